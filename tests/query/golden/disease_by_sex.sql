SELECT sex, disease, COUNT(*) AS patients, AVG(cost) AS cost FROM release WHERE age BETWEEN 30 AND 45 GROUP BY sex, disease
----
SELECT
  "sex" AS g0,
  "disease" AS y0,
  COUNT(*) AS n,
  SUM(CAST("cost" AS DOUBLE)) AS v1_s,
  COUNT("cost") AS v2_s,
  SUM(CAST("cost" AS DOUBLE) * CAST("cost" AS DOUBLE)) AS v3_s,
  MIN(CAST("cost" AS DOUBLE)) AS "least v1_s",
  MAX(CAST("cost" AS DOUBLE)) AS "most v1_s"
FROM release
WHERE
  "age" BETWEEN 30 AND 45
GROUP BY
  1,
  2
