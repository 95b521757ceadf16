SELECT SUM(visits) FROM release WHERE visits >= 2 AND visits < 6 AND age > 50
----
SELECT
  "visits" AS c0,
  COUNT(*) AS n
FROM release
WHERE
  "age" > 50
GROUP BY
  1
