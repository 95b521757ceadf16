SELECT COUNT(*) FROM release WHERE (disease IN ('flu', 'cold') AND sex = 'F') OR (visits > 3 AND smoker)
----
SELECT
  CASE WHEN "disease" IN ('flu', 'cold') THEN 1 ELSE 0 END AS c0,
  CASE WHEN "visits" < 3.5 THEN 0 ELSE 1 END AS c1,
  CASE WHEN "smoker" IN (TRUE) THEN 1 ELSE 0 END AS c2,
  CASE WHEN "sex" = 'F' THEN 1 WHEN NOT (
    "sex" = 'F'
  ) THEN 0 ELSE 2 END AS a0,
  COUNT(*) AS n
FROM release
GROUP BY
  1,
  2,
  3,
  4
