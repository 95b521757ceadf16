# A question, and its answer: never a bare number, always with a standard error and an interval.

between <- function(low = NA, high = NA) structure(list(low = low, high = high), class = "scumble_between")

ask <- function(release, measure = c("count", "sum", "avg"), of = NULL, by = character(), where = list(),
                order = c("group", "most", "fewest"), top = NULL, level = 0.95) {
  measure <- match.arg(measure)
  order <- match.arg(order)
  demand_question(release, measure, of, by, where, top, level)
  question <- list(
    measure = jsonlite::unbox(measure),
    of = if (is.null(of)) NULL else jsonlite::unbox(of),
    by = as.character(by),
    where = unname(Map(condition, names(where), where)),
    order = jsonlite::unbox(order),
    top = if (is.null(top)) NULL else jsonlite::unbox(as.integer(top)),
    level = jsonlite::unbox(level)
  )
  text <- jsonlite::toJSON(question, null = "null", na = "null", digits = NA)
  release$engine$assign("question", V8::JS(as.character(text)))
  answer <- jsonlite::fromJSON(release$engine$eval("scumble.ask(question)", await = TRUE), simplifyVector = FALSE)
  if (!is.null(answer$refused)) stop(answer$refused, call. = FALSE)
  framed(answer)
}

demand_question <- function(release, measure, of, by, where, top, level) {
  if (!inherits(release, "scumble_release")) stop("the first argument is a release: open_release(\"NAME.release\")", call. = FALSE)
  askable <- release$askable
  if (measure != "count" && !isTRUE(of %in% askable$summed))
    stop(sprintf("%s needs a column of numbers: of = one of %s", measure, paste(askable$summed, collapse = ", ")), call. = FALSE)
  if (measure == "count" && !is.null(of)) stop("rows are counted, not a column; for a column say \"sum\" or \"avg\" before", call. = FALSE)
  if (length(by) > 2) stop("a question has two groups at most", call. = FALSE)
  for (name in by) if (!name %in% askable$grouped) stop(unknown(name, askable$grouped), call. = FALSE)
  if (length(where) > 0 && (is.null(names(where)) || anyDuplicated(names(where)) > 0)) stop("where is a list with one condition a column: where = list(sex = \"F\")", call. = FALSE)
  for (name in names(where)) if (!name %in% askable$filtered) stop(unknown(name, askable$filtered), call. = FALSE)
  if (!is.null(top) && !(length(top) == 1 && top >= 1)) stop("top is a whole number of at least 1", call. = FALSE)
  if (!(is.numeric(level) && length(level) == 1 && level > 0 && level < 1)) stop("a level lies between 0 and 1", call. = FALSE)
}

unknown <- function(name, known) sprintf("'%s' is not a column that can be asked; there are %s", name, paste(known, collapse = ", "))

# A condition as the estimator takes it: values by their labels, or two ends.
condition <- function(name, value) {
  column <- jsonlite::unbox(name)
  if (inherits(value, "scumble_between")) {
    end <- function(x) if (is.na(x)) jsonlite::unbox(NA) else if (is.numeric(x)) jsonlite::unbox(as.numeric(x)) else jsonlite::unbox(as.character(x))
    return(list(column = column, low = end(value$low), high = end(value$high)))
  }
  list(column = column, labels = labels_of(value))
}

# Values as the estimator knows them: 100000 where R would write 1e+05, true where it writes TRUE.
labels_of <- function(value) {
  known <- !is.na(value)
  labels <- as.character(value)
  if (is.logical(value)) labels <- tolower(labels)
  if (is.numeric(value)) labels[known] <- vapply(value[known], format, "", digits = 15, scientific = FALSE, trim = TRUE)
  labels
}

# The answer as a data frame: group columns, then a, a_se, a_low, a_high for the aggregate a; what is printed is kept beside it.
framed <- function(answer) {
  numbers <- function(values) vapply(values, function(x) if (is.null(x)) NA_real_ else as.numeric(x), 0)
  columns <- lapply(answer$groups, typed)
  names(columns) <- vapply(answer$groups, function(group) group$name, "")
  e <- answer$estimate
  parts <- list(value = "", se = "_se", low = "_low", high = "_high", least = "_least", bound = "_bound")
  for (part in names(parts)) if (!is.null(e[[part]])) columns[[paste0(e$name, parts[[part]])]] <- numbers(e[[part]])
  printed <- lapply(answer$texts, function(text) unlist(text$cells))
  names(printed) <- vapply(answer$texts, function(text) text$heading, "")
  structure(
    as.data.frame(columns, check.names = FALSE, stringsAsFactors = FALSE),
    printed = printed, notes = unlist(answer$notes), level = answer$level, sql = answer$sql, method = e$method,
    class = c("scumble_answer", "data.frame")
  )
}

typed <- function(group) {
  labels <- vapply(group$labels, function(label) if (is.null(label)) NA_character_ else label, "")
  switch(group$kind, number = as.numeric(labels), truth = labels == "true", day = as.Date(labels), labels)
}

print.scumble_answer <- function(x, ...) {
  printed <- attr(x, "printed")
  groups <- as.data.frame(unclass(x)[seq_len(ncol(x) - length(grep("_(se|low|high|least|bound)$", names(x))) - 1)], check.names = FALSE)
  shown <- if (ncol(groups)) cbind(groups, as.data.frame(printed, check.names = FALSE)) else as.data.frame(printed, check.names = FALSE)
  print(shown, row.names = FALSE)
  for (note in attr(x, "notes")) cat("note:", note, "\n")
  invisible(x)
}
