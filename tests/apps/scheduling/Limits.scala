package org.apache.spark.slaq.tests

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.{SparkContext, SparkConf}

/**
 * Trainings side by side on 8 slots, one scenario after the other; the record of each context tells what each got.
 * Arguments: a folder for the records, then for each context `NAME,SCHEDULER MODE,LEND DELAY,SCENARIO,…`; the mode may
 * be empty.
 */
object Limits {
  private val TaskMillis = 100L
  private val done = new AtomicInteger

  def main(args: Array[String]): Unit = args.tail.foreach { context =>
    val Array(name, mode, delay, scenarios @ _*) = context.split(",")
    val conf = new SparkConf().setAppName("limits").set("spark.slaq.explain.path", s"${args.head}/$name.jsonl").set("spark.slaq.lend.delay", delay)
    if (mode.nonEmpty) conf.set("spark.scheduler.mode", mode)
    val sc = new SparkContext(conf)
    println(s"mode $name ${sc.getSchedulingMode}")
    SlowTraining.fit("warm-up", SlowTraining.data(sc, 16, 5), 3)
    scenarios.foreach(run(sc, _))
    sc.getAllPools.foreach(pool => println(s"pool $name ${pool.name}"))
    sc.stop()
  }

  private def run(sc: SparkContext, scenario: String): Unit = scenario match {
    // Three runs that can use all cores, weights 5, 2 and 1, whose stages are long against what the driver does between.
    case "shares" => SlowTraining.together(training(sc, "five", 5, 160, 3), training(sc, "two", 2, 64, 3), training(sc, "one", 1, 32, 3))

    // A run whose stages have two long tasks and two short ones leaves two cores of its four, for another that can use them.
    case "lending" =>
      SlowTraining.together(
        () => SlowTraining.fit("uneven", SlowTraining.data(sc, 4, (partition: Int) => if (partition < 2) 1500L else 100L), 5),
        training(sc, "wide", 1, 60, 6))

    // Work of no run beside two runs.
    case "others" =>
      SlowTraining.together(
        training(sc, "first", 1, 40, 4), training(sc, "second", 1, 40, 4),
        () => sc.parallelize(0 until 250, 250).foreach(_ => Thread.sleep(TaskMillis)))

    // Work of no run that goes on when the only run has ended, and must have all cores then.
    case "alone" =>
      SlowTraining.together(
        () => sc.parallelize(0 until 320, 320).foreach { _ =>
          Thread.sleep(TaskMillis)
          Limits.done.incrementAndGet()
        },
        () => {
          training(sc, "before", 1, 16, 4)()
          val (started, before) = (System.nanoTime(), done.get)
          while (done.get < 300) Thread.sleep(10)
          println(s"alone ${(done.get - before) * TaskMillis / ((System.nanoTime() - started) * 1e-6)}")
        })

    // A run in the user's own pool, beside one that is planned.
    case "pools" =>
      SlowTraining.together(
        () => {
          sc.setLocalProperty("spark.scheduler.pool", "mine")
          training(sc, "named", 1, 40, 3)()
        },
        training(sc, "unnamed", 1, 40, 3))

    // A barrier stage with more tasks than its run has cores, all of which must start at once.
    case "barrier" =>
      SlowTraining.together(
        () => SlowTraining.descend("barrier", SlowTraining.data(sc, 6, 50).barrier().mapPartitions(rows => rows), 3),
        training(sc, "beside", 3, 3, 12))

    case other => throw new IllegalArgumentException(other)
  }

  private def training(sc: SparkContext, name: String, weight: Int, tasks: Int, iterations: Int): () => Unit = () => {
    sc.setLocalProperty("spark.slaq.weight", weight.toString)
    SlowTraining.fit(name, SlowTraining.data(sc, tasks, TaskMillis), iterations)
  }
}
