"""Files that lie in an object store or on a web server: listed where they lie, copied for as long as they are read."""
