mod file_uris;
mod hostile;
mod matching;
mod properties;
mod refusals;
