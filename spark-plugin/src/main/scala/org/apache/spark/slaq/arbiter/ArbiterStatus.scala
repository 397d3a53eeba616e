package org.apache.spark.slaq.arbiter

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** Prints how an arbiter sees its cluster: `HOST:PORT [--json] [--secret-file FILE]`; run by `scripts/arbiter`. */
object ArbiterStatus {
  private val Question = """{"version":1,"ask":"status"}""".getBytes(UTF_8)

  def main(args: Array[String]): Unit = {
    val code =
      try {
        val json = args.contains("--json")
        args.toList.filterNot(_ == "--json") match {
          case address :: "--secret-file" :: file :: Nil => print(address, json, Some(Secret.read("--secret-file", file)))
          case address :: Nil => print(address, json, None)
          case _ => throw new IllegalArgumentException("allowed: HOST:PORT [--json] [--secret-file FILE]")
        }
        0
      } catch {
        case e @ (_: IOException | _: IllegalArgumentException) =>
          System.err.println(s"error: ${e.getMessage}")
          1
      }
    System.out.flush()
    // Without waiting for idle connections to close.
    Runtime.getRuntime.halt(code)
  }

  private def print(text: String, json: Boolean, secret: Option[String]): Unit = {
    val address = Address.parse(text).getOrElse(throw new IllegalArgumentException(s"$text is wrong; allowed: ${Address.Allowed}"))
    val answer = new RemoteArbiter(address, "127.0.0.1", secret).ask(Question)
    if (json) println(new String(answer, UTF_8)) else table(new ObjectMapper().readTree(answer)).foreach(println)
  }

  private def table(status: JsonNode): Seq[String] = {
    def text(node: JsonNode, key: String) = node.path(key).asText("-") match { case "null" => "-"; case other => other }
    val hold = status.path("hold").asDouble
    val head = s"${text(status, "promised")} of ${text(status, "cores")} cores promised, plan ${text(status, "epoch")}" +
      (if (hold > 0) f", nothing moves for another $hold%.0f s after the start" else f", next round in ${status.path("nextRound").asDouble}%.0f s")
    val tenants = status.path("tenants").elements.asScala.map { t =>
      s"tenant ${text(t, "tenant")}: ${text(t, "cores")} cores, guaranteed ${text(t, "guaranteed")}, maximum ${text(t, "maximum")}, weight ${text(t, "weight")}"
    }
    val apps = status.path("apps").elements.asScala.flatMap { app =>
      val line = s"${text(app, "app")}  ${text(app, "name")} (${text(app, "tenant")}): target ${text(app, "target")}, has " +
        s"${text(app, "executors")} executors of ${text(app, "coresPerExecutor")} cores: ${text(app, "reason")}"
      val runs = app.path("runs").elements.asScala.map { run =>
        s"    run ${text(run, "run")}  ${text(run, "name")} (${text(run, "algorithm")}): iteration ${text(run, "iteration")}, " +
          s"loss ${text(run, "loss")}, gain ${text(run, "gain")} with ${text(run, "cores")} cores"
      }
      line +: runs.toSeq
    }
    head +: (tenants ++ apps).toSeq
  }
}
