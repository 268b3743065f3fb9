"""What the program was taught and keeps: processes (`memory`), keywords (`glossary`), and the vectors to find them by."""
