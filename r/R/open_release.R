# A release, opened: every file is compared with its hash, and the estimator has the table.

AGAIN <- "get the release again from its publisher"

open_release <- function(path) {
  manifest_file <- file.path(path, "manifest.json")
  if (!file.exists(manifest_file)) stop(sprintf("'%s' is not a release: it has no manifest.json", path), call. = FALSE)
  manifest <- jsonlite::fromJSON(manifest_file, simplifyVector = FALSE)
  if (!identical(manifest$format, "scumble-release")) stop("manifest.json is not the manifest of a scumble release", call. = FALSE)
  demand_hashes(path, manifest)
  page <- page_of(path, manifest)
  engine <- V8::v8()
  engine$source(system.file("scumble.js", package = "scumble", mustWork = TRUE))
  hand_over(engine, path, page$data)
  engine$assign("given", V8::JS(page$text))
  askable <- jsonlite::fromJSON(engine$eval("scumble.open(given.manifest, given.facts)", await = TRUE))
  structure(
    list(path = path, rows = manifest$rows, mechanism = manifest$mechanism, askable = askable, engine = engine),
    class = "scumble_release"
  )
}

# Files of other bytes than those of the manifest are refused.
demand_hashes <- function(path, manifest) {
  for (file in manifest$files) {
    where <- file.path(path, file$path)
    if (grepl("(^/)|(\\.\\.)", file$path)) stop(sprintf("the manifest names the file '%s', which is not inside of its folder; %s", file$path, AGAIN), call. = FALSE)
    if (!file.exists(where)) stop(sprintf("%s is missing; %s", file$path, AGAIN), call. = FALSE)
    if (digest::digest(where, algo = "sha256", file = TRUE) != file$sha256)
      stop(sprintf("%s was changed after it was written; %s", file$path, AGAIN), call. = FALSE)
  }
}

# What the estimator is told stands in the page of the release, as JSON that no quotation mark or bracket ends.
page_of <- function(path, manifest) {
  listed <- vapply(manifest$files, function(file) file$path, "")
  if (!"explore.html" %in% listed)
    stop("the release has no explore.html, which says how its columns are read: it is older than that; publish it again, or ask it by scumble query", call. = FALSE)
  where <- file.path(path, "explore.html")
  html <- readChar(where, file.size(where), useBytes = TRUE)
  Encoding(html) <- "UTF-8"
  start <- '<script type="application/json" id="release">'
  from <- regexpr(start, html, fixed = TRUE, useBytes = TRUE)
  rest <- substring(html, regexpr(start, html, fixed = TRUE) + nchar(start))
  text <- substring(rest, 1, regexpr("</script>", rest, fixed = TRUE) - 1)
  if (from < 0) stop(sprintf("explore.html is no page of scumble; %s", AGAIN), call. = FALSE)
  parsed <- jsonlite::fromJSON(text, simplifyVector = FALSE)
  if (!isTRUE(parsed$facts$asked))
    stop(sprintf("a release by %s is not asked in R: it needs more than the page computes; ask it by scumble query", manifest$mechanism), call. = FALSE)
  list(text = text, data = vapply(parsed$data, function(file) file$path, ""))
}

hand_over <- function(engine, path, files) {
  for (file in files) {
    where <- file.path(path, file)
    engine$assign("bytes", readBin(where, "raw", file.size(where)))
    engine$assign("path", file)
    engine$eval("scumble.file(path, bytes)")
  }
  engine$eval("bytes = null")
}

print.scumble_release <- function(x, ...) {
  cat(sprintf("%s: %s rows, mechanism %s\n", basename(x$path), format(x$rows, big.mark = ","), x$mechanism))
  cat(sprintf("columns: %s\n", paste(x$askable$grouped, collapse = ", ")))
  cat(sprintf("numbers: %s\n", paste(x$askable$summed, collapse = ", ")))
  invisible(x)
}
