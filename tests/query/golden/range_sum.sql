SELECT SUM(visits) FROM release WHERE visits >= 2 AND visits < 6 AND age > 50
----
SELECT
  "visits" AS c0,
  COUNT(*) AS n,
  COUNT("visits") AS v0_n,
  SUM(CAST("visits" AS DOUBLE)) AS v0_s,
  SUM(CAST("visits" AS DOUBLE) * CAST("visits" AS DOUBLE)) AS v0_q
FROM release
WHERE
  "age" > 50
GROUP BY
  1
