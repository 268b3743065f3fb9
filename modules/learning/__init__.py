"""What people teach: a process that a conversation showed, a definition that a message gave in passing."""
