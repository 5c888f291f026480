"""The book in other languages: which paragraphs a catalogue translates, and which have fallen behind."""
