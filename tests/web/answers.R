# Answers of the R package to questions, for tests: arguments are the folder of the release, the file of the questions, and the file to write.
library(scumble)
given <- commandArgs(trailingOnly = TRUE)
release <- open_release(given[1])
condition <- function(part) {
  if (is.null(part$labels)) return(between(if (is.null(part$low)) NA else part$low, if (is.null(part$high)) NA else part$high))
  vapply(part$labels, function(label) if (is.null(label)) NA_character_ else label, "")
}
answered <- function(q) {
  where <- lapply(q$where, condition)
  names(where) <- vapply(q$where, function(part) part$column, "")
  a <- ask(release, q$measure, of = q$of, by = unlist(q$by), where = where, order = q$order, top = q$top, level = q$level)
  frame <- as.list(as.data.frame(a))
  list(sql = attr(a, "sql"), notes = I(as.character(attr(a, "notes"))), printed = lapply(attr(a, "printed"), I), frame = lapply(frame, I))
}
questions <- jsonlite::fromJSON(given[2], simplifyVector = FALSE)
answers <- lapply(questions, function(q) tryCatch(answered(q), error = function(e) list(refused = conditionMessage(e))))
writeLines(jsonlite::toJSON(answers, auto_unbox = TRUE, digits = NA, na = "null", null = "null"), given[3])
