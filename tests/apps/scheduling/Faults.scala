package org.apache.spark.slaq.tests

import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.util.control.NonFatal

import org.apache.spark.{SparkConf, SparkContext}

/** What can go wrong in one JVM, one SparkContext after the other; the first argument is the folder of the records. */
object Faults {
  private val Wrong = Seq(
    "enabled" -> "maybe", "losses" -> "perhaps", "policy" -> "best", "epoch" -> "0", "lend.delay" -> "soon",
    "fairness" -> "2", "floor" -> "0", "weight" -> "-1", "colour" -> "red")

  def main(args: Array[String]): Unit = {
    def context(record: String, settings: (String, String)*): SparkContext =
      new SparkContext(new SparkConf().setAppName(record).set("spark.slaq.explain.path", s"${args(0)}/$record.jsonl").setAll(settings))

    Wrong.foreach { case (key, value) =>
      try {
        context("wrong", s"spark.slaq.$key" -> value).stop()
        println(s"accepted $key")
      } catch { case NonFatal(e) => println(s"refused $key: ${e.getMessage.replace('\n', ' ')}") }
    }

    val first = context("failing")
    failing(first)
    infinite(first)
    first.stop()

    stoppedMidFit(context("stopped"))

    val crowd = context("crowd")
    println(s"crowd ${crowded(crowd, 200)}")
    crowd.stop()
    println("done")
  }

  /** A fit that throws, and another one beside it that does not notice. */
  private def failing(sc: SparkContext): Unit = SlowTraining.together(
    () => {
      // Local executors share this JVM's memory, so a task sees the latch.
      val data = SlowTraining.data(sc, 4, 50).mapPartitions { rows =>
        if (failNow.getCount == 0) throw new IllegalStateException("as asked")
        rows
      }
      try {
        SlowTraining.fit("throws", data, 1000)
        println("the failing fit returned")
      } catch { case NonFatal(e) => println(s"failed with ${e.getMessage.contains("as asked")}") }
    },
    () => {
      SlowTraining.fit("returns", SlowTraining.data(sc, 4, 50), 4)
      failNow.countDown()
      SlowTraining.fit("returns too", SlowTraining.data(sc, 4, 50), 4)
    })

  private val failNow = new CountDownLatch(1)

  /** Losses that are infinite and then no numbers at all, beside a sound run. */
  private def infinite(sc: SparkContext): Unit = SlowTraining.together(
    () => SlowTraining.fit("explodes", SlowTraining.data(sc, 4, 20), 12, step = 1e200),
    () => SlowTraining.fit("sound", SlowTraining.data(sc, 4, 20), 12))

  private def stoppedMidFit(sc: SparkContext): Unit = {
    val ended = new CountDownLatch(1)
    val fit = new Thread(() => {
      try SlowTraining.fit("cut short", SlowTraining.data(sc, 8, 50), 1000)
      catch { case NonFatal(e) => println(s"cut short by ${e.getClass.getSimpleName}") }
      ended.countDown()
    })
    fit.start()
    Waiting.until("the fit is under way")(sc.statusTracker.getJobIdsForGroup(null).length > 5)
    sc.stop()
    println(s"fit ended ${ended.await(60, TimeUnit.SECONDS)}")
  }

  private def crowded(sc: SparkContext, fits: Int): Int = {
    val bodies = (0 until fits).map(i => () => { SlowTraining.fit(s"crowd-$i", SlowTraining.data(sc, 2, 5), 3); () })
    SlowTraining.together(bodies: _*)
    fits
  }
}

/** Waits for conditions, with a deadline. */
object Waiting {
  def until(what: String, seconds: Int = 60)(condition: => Boolean): Unit = {
    val deadline = System.nanoTime() + seconds * 1000000000L
    while (!condition) {
      if (System.nanoTime() > deadline) throw new AssertionError(s"not within $seconds s: $what")
      Thread.sleep(20)
    }
  }
}
