"""A PySpark client of a Spark Connect server, as any user writes it: connect_client.py URL DATA."""

import sys

from pyspark.ml.classification import LogisticRegression
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
data = spark.read.format("libsvm").load(sys.argv[2]).repartition(4).cache()
model = LogisticRegression(maxIter=8, regParam=0.01).fit(data)
print("history", *model.summary.objectiveHistory)
spark.stop()
