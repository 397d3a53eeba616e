package org.apache.spark.slaq.tests

import org.apache.spark.SparkContext
import org.apache.spark.mllib.classification.{SVMModel, SVMWithSGD}
import org.apache.spark.mllib.linalg.Vectors
import org.apache.spark.mllib.optimization.{GradientDescent, HingeGradient, SquaredL2Updater}
import org.apache.spark.mllib.regression.LabeledPoint
import org.apache.spark.rdd.RDD

/**
 * An unchanged training of MLlib whose tasks take a stated time: its data is not cached, and reading a partition
 * sleeps. So there can be more slots than the machine has cores, while everything but the arithmetic is real.
 */
object SlowTraining {

  /** Sleeps are the whole time of a task but for a few milliseconds. */
  def data(sc: SparkContext, partitions: Int, millis: Long): RDD[LabeledPoint] = data(sc, partitions, (_: Int) => millis)

  /** The same, with a time for each partition. */
  def data(sc: SparkContext, partitions: Int, millis: Int => Long): RDD[LabeledPoint] =
    sc.parallelize(0 until partitions * 4, partitions).mapPartitionsWithIndex { (partition, rows) =>
      Thread.sleep(millis(partition))
      rows.map(i => LabeledPoint((i % 2).toDouble, Vectors.dense(i % 2 - 0.5, (i % 7) / 7.0, 1.0)))
    }

  def fit(name: String, data: RDD[LabeledPoint], iterations: Int, step: Double = 1): SVMModel = {
    data.sparkContext.setLocalProperty("spark.slaq.run.name", name)
    val svm = new SVMWithSGD
    svm.setValidateData(false)
    svm.optimizer.setNumIterations(iterations).setStepSize(step).setConvergenceTol(0).setRegParam(0.01)
    svm.run(data)
  }

  /** The inner part of such a training alone, which reads its data as a whole only, as a barrier stage must be. */
  def descend(name: String, data: RDD[LabeledPoint], iterations: Int): Unit = {
    data.sparkContext.setLocalProperty("spark.slaq.run.name", name)
    GradientDescent.runMiniBatchSGD(data.map(p => (p.label, p.features)), new HingeGradient, new SquaredL2Updater,
      1, iterations, 0.01, 1, Vectors.dense(0, 0, 0))
    ()
  }

  /** Runs blocks of code at the same time, each on a thread of its own, and fails if one of them does. */
  def together(bodies: (() => Unit)*): Unit = {
    val failures = new java.util.concurrent.ConcurrentLinkedQueue[Throwable]
    val threads = bodies.map { body =>
      val thread = new Thread(() => try body() catch { case e: Throwable => failures.add(e) })
      thread.start()
      thread
    }
    threads.foreach(_.join())
    if (!failures.isEmpty) throw new AssertionError(s"${failures.size} of ${bodies.length} failed", failures.peek)
  }
}
