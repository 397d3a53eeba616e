package org.apache.spark.slaq.arbiter

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

/** Prints the status of the arbiter at HOST:PORT [secret] as a JSON line, four times a second; one that is silent is left out. */
object StatusWatch {
  def main(args: Array[String]): Unit = {
    val arbiter = new RemoteArbiter(Address.parse(args(0)).get, "127.0.0.1", args.lift(1))
    while (true) {
      try println(new String(arbiter.ask("""{"version":1,"ask":"status"}""".getBytes(UTF_8)), UTF_8))
      catch { case _: IOException => }
      Thread.sleep(250)
    }
  }
}
