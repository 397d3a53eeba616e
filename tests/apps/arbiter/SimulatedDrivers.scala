package org.apache.spark.slaq.arbiter

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.{ConcurrentLinkedQueue, Executors, TimeUnit}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/**
 * Drivers that report over the real RPC and do at once what they are told. Arguments are key=value:
 * arbiter, apps, sizes (gain of each driver's run, cycled; NaN sends what a broken engine would), runs (of each driver),
 * prefix, seconds, warmUp (seconds of them), interval (ms), pausable, secret, threads, connections.
 *
 * Prints a JSON line a second, `{"targets": {app: executors}, "errors": n, "last": "…"}`, and last
 * `{"reports": n, "errors": n, "p50": ms, "p99": ms, "max": ms}` of what came after the warm-up.
 */
object SimulatedDrivers {
  private final class Driver(val app: String, size: String, runs: Int, pausable: Boolean) {
    @volatile var target: Option[Int] = None
    @volatile private var executors = 0

    def report(): Array[Byte] = {
      val gain = Seq(1, 2, 3, 4, 6, 8).map(n => s"[$n,${if (size == "NaN") "null" else size.toDouble * (1 - math.pow(0.5, n))}]").mkString(",")
      val loss = if (size == "NaN") "\"NaN\"" else "0.5"
      val run = (1 to runs).map(r => s"""{"run":$r,"name":"run-$r","algorithm":"Simulated","iteration":7,"loss":$loss,"gain":[$gain]}""")
      s"""{"version":1,"app":"$app","name":"$app","tenant":"sim","executors":$executors,"pausable":$pausable,"runs":[${run.mkString(",")}]}"""
        .getBytes(UTF_8)
    }

    def hear(answer: Array[Byte]): Unit = {
      val node = new ObjectMapper().readTree(answer)
      if (node.has("error")) throw new IOException(node.path("error").asText)
      if (node.path("target").isInt) {
        executors = node.path("target").asInt
        target = Some(executors)
      }
    }
  }

  def main(args: Array[String]): Unit = {
    val option = args.map(_.split("=", 2)).map { case Array(key, value) => key -> value }.toMap
    def number(key: String, default: Int): Int = option.get(key).fold(default)(_.toInt)
    val apps = number("apps", 1)
    val sizes = option.getOrElse("sizes", "1.0").split(",")
    val drivers = (0 until apps).map { i =>
      new Driver(f"${option.getOrElse("prefix", "app")}-$i%04d", sizes(i % sizes.length), number("runs", 1), option.get("pausable").contains("true"))
    }
    val address = Address.parse(option("arbiter")).get
    val clients = (0 until number("connections", apps)).map(_ => new RemoteArbiter(address, "127.0.0.1", option.get("secret")))
    val nanos = new ConcurrentLinkedQueue[Long]
    val errors = new ConcurrentLinkedQueue[String]
    val interval = number("interval", 1000)
    val pool = Executors.newScheduledThreadPool(number("threads", math.min(apps, 8)))
    drivers.zipWithIndex.foreach { case (driver, i) =>
      pool.scheduleAtFixedRate(() => {
        val start = System.nanoTime()
        try {
          driver.hear(clients(i % clients.size).ask(driver.report()))
          nanos.add(System.nanoTime() - start)
        } catch { case e: IOException => errors.add(e.getMessage) }
      }, interval.toLong * i / apps, interval.toLong, TimeUnit.MILLISECONDS)
    }
    val mapper = new ObjectMapper
    (1 to number("seconds", 10)).foreach { second =>
      Thread.sleep(1000)
      if (second == number("warmUp", 0)) {
        nanos.clear()
        errors.clear()
      }
      val targets = new java.util.TreeMap[String, Any]
      drivers.foreach(d => d.target.foreach(targets.put(d.app, _)))
      val line = new java.util.LinkedHashMap[String, Any]
      line.put("targets", targets)
      line.put("errors", errors.size)
      line.put("last", errors.asScala.lastOption.getOrElse(""))
      println(mapper.writeValueAsString(line))
    }
    pool.shutdown()
    pool.awaitTermination(10, TimeUnit.SECONDS)
    val sorted = nanos.asScala.toArray.sorted
    def at(part: Double) = if (sorted.isEmpty) 0.0 else sorted(math.min(sorted.length - 1, (part * sorted.length).toInt)) * 1e-6
    println(f"""{"reports": ${sorted.length}, "errors": ${errors.size}, "p50": ${at(0.5)}%.3f, "p99": ${at(0.99)}%.3f, "max": ${at(1.0)}%.3f}""")
    System.out.flush()
    Runtime.getRuntime.halt(0)
  }
}
