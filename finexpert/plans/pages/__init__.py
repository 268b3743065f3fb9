"""From pages to an answer: what is searched, which evidence a reading cites, how a value is computed and printed."""
