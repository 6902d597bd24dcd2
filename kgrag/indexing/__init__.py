"""Documents -> graph: chunking, names, keywords, neighbours, and the pipeline that runs them."""
