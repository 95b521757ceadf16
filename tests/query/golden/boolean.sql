SELECT COUNT(*) FROM release WHERE (disease IN ('flu', 'cold') AND sex = 'F') OR (visits > 3 AND smoker)
----
SELECT
  (
    CASE WHEN "disease" IN ('flu', 'cold') THEN 1 ELSE 0 END
  ) | (
    CASE WHEN "smoker" IN (FALSE) THEN 0 ELSE 2 END
  ) | (
    CASE WHEN "visits" <= 3 THEN 0 ELSE 4 END
  ) | (
    CASE WHEN "sex" = 'F' THEN 8 WHEN NOT (
      "sex" = 'F'
    ) THEN 0 ELSE 16 END
  ) AS c,
  COUNT(*) AS n
FROM release
GROUP BY
  1
