package org.apache.spark.slaq.arbiter

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

import org.apache.spark.rpc.RpcAddress
import org.apache.spark.rpc.netty.slaq.UnverifiedRef

/** Says all kinds of nonsense to an arbiter (HOST:PORT [secret]) and prints what it gets back, a line each. */
object BadClient {
  def main(args: Array[String]): Unit = {
    val address = Address.parse(args(0)).get
    val env = Rpc.client("127.0.0.1", args.lift(1), 30)
    val ref = UnverifiedRef(env, RpcAddress(address.host, address.port), Rpc.Endpoint)
    def say(message: Any): String =
      Try(new String(ref.askSync[Array[Byte]](message), UTF_8)).fold(e => "failed: " + Iterator.iterate(e)(_.getCause).takeWhile(_ != null).toSeq.last, "answered: " + _)
    val messages = Seq[Any](
      Array[Byte](0, -1, 17), Array.emptyByteArray, "[" * 100000, """{"version":1,"app":"nan","weight":NaN}""", """{"version":99,"app":"x"}""",
      "{}").map { case text: String => text.getBytes(UTF_8); case other => other }
    (messages ++ Seq("a string", 42, Map("a" -> 1))).foreach(message => println(say(message).take(200)))
    ref.send("a message without an answer")
    System.out.flush()
    Runtime.getRuntime.halt(0)
  }
}
