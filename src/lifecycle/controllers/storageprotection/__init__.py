"""Claims and volumes that are in use outlive their deletion."""
