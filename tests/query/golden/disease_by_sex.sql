SELECT sex, disease, COUNT(*) AS patients, AVG(cost) AS cost FROM release WHERE age BETWEEN 30 AND 45 GROUP BY sex, disease
----
SELECT
  "sex" AS g0,
  "disease" AS y0,
  COUNT(*) AS n,
  COUNT("cost") AS v0_n,
  SUM(CAST("cost" AS DOUBLE)) AS v0_s,
  SUM(CAST("cost" AS DOUBLE) * CAST("cost" AS DOUBLE)) AS v0_q
FROM release
WHERE
  "age" BETWEEN 30 AND 45
GROUP BY
  1,
  2
