"""`agnhost`, Kubernetes' own test program, as far as it is played in hollow containers:
it says what it was given, looks at files, and answers HTTP requests.
"""
