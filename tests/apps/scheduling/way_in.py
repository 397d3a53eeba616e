"""The same from Python: what schedules the application, and a model. With an argument, the session sets the plugin up itself."""

import sys

from pyspark.ml.classification import LogisticRegression
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

builder = SparkSession.builder
for setting in sys.argv[1:]:
    key, value = setting.split("=", 1)
    builder = builder.config(key, value)
spark = builder.getOrCreate()
scheduler = spark.sparkContext._jsc.sc().taskScheduler()
print("scheduler", scheduler.getClass().getSimpleName())
print("master", spark.sparkContext.master)
rows = [(float(i % 3 == 0), Vectors.dense([i % 3, (i * 7) % 5])) for i in range(200)]
data = spark.createDataFrame(rows, ["label", "features"])
model = LogisticRegression(maxIter=5, regParam=0.1).fit(data)
print("model", model.coefficients)
spark.stop()
