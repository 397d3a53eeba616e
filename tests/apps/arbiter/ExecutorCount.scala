package arbiter

import scala.util.Try

import org.apache.spark.SparkContext

/** Prints `executors MILLIS N` whenever the number of an application's executors changes, until the JVM ends. */
object ExecutorCount {
  def watch(sc: SparkContext): Unit = {
    val watcher = new Thread(() => {
      var last = -1
      while (true) {
        // Fails once the context is stopped.
        Try(sc.getExecutorMemoryStatus.size - 1).foreach { now =>
          if (now != last) println(s"executors ${System.currentTimeMillis()} $now")
          last = now
        }
        Thread.sleep(100)
      }
    })
    watcher.setDaemon(true)
    watcher.start()
  }
}
