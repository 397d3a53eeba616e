package org.apache.spark.slaq.tests

import java.lang.management.ManagementFactory

import org.apache.spark.{SparkConf, SparkContext, SparkEnv}

/** On a cluster: an executor is killed under two trainings. */
object LostExecutor {
  def main(args: Array[String]): Unit = {
    val sc = new SparkContext(new SparkConf().setAppName("lost-executor"))
    Waiting.until("two executors")(sc.getExecutorMemoryStatus.size == 3)
    println(s"scheduler ${sc.taskScheduler.getClass.getSimpleName}")
    val undisturbed = weights(sc, "undisturbed")

    val victim = new Thread(() => {
      Waiting.until("a second fit is under way")(sc.statusTracker.getJobIdsForGroup(null).length > 12)
      kill(sc)
    })
    victim.start()
    SlowTraining.together(
      () => println(s"same ${same(undisturbed, weights(sc, "disturbed"))}"),
      () => println(s"same ${same(undisturbed, weights(sc, "disturbed too"))}"))
    victim.join()
    Waiting.until("a new executor in place of the killed one")(sc.getExecutorMemoryStatus.size == 3)
    sc.stop()
  }

  private def weights(sc: SparkContext, name: String): Array[Double] =
    SlowTraining.fit(name, SlowTraining.data(sc, 8, 150), 8).weights.toArray

  private def same(a: Array[Double], b: Array[Double]): Boolean = a.zip(b).forall { case (x, y) => math.abs(x - y) <= 1e-9 }

  /** kill -9 of the JVM of one executor. */
  private def kill(sc: SparkContext): Unit = {
    val pids = sc.parallelize(0 until 16, 16).map(_ => SparkEnv.get.executorId -> ManagementFactory.getRuntimeMXBean.getName.takeWhile(_ != '@')).collect()
    val (executor, pid) = pids.head
    println(s"killed executor $executor")
    new ProcessBuilder("kill", "-9", pid).start().waitFor()
  }
}
