"""The web page: HTML that the server writes, over the same `Desk` as every other door.

    from finexpert.app.page.mounting import mount
    mount(app, desk)

htmx asks for pieces of pages, server-sent events bring the progress of a question, uPlot draws. There is no state of a page on the
server but what the desk keeps, so a page may be loaded anew, or from another server, at any moment.
"""
