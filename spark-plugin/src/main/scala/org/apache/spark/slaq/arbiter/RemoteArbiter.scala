package org.apache.spark.slaq.arbiter

import java.io.IOException

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.apache.spark.rpc.{RpcAddress, RpcEndpointRef, RpcEnv, RpcTimeout}
import org.apache.spark.rpc.netty.slaq.UnverifiedRef

/**
 * An arbiter in another process. The connection is made with the first message and again after it broke; one message
 * waits for its answer at a time.
 *
 * @param localHost address of this side, as it is to appear to the other
 */
private[slaq] final class RemoteArbiter(address: Address, localHost: String, secret: Option[String]) extends Arbiter {
  import RemoteArbiter._

  private val env: RpcEnv = Rpc.client(localHost, secret, AnswerSeconds)
  private val timeout = new RpcTimeout(AnswerSeconds.seconds, "the arbiter's answer")
  private val ref: RpcEndpointRef = UnverifiedRef(env, RpcAddress(address.host, address.port), Rpc.Endpoint)

  override def ask(message: Array[Byte]): Array[Byte] =
    try ref.askSync[Array[Byte]](message, timeout)
    catch {
      case e: InterruptedException => throw e
      case NonFatal(e) => throw new IOException(s"the arbiter at $address does not answer: ${reason(e)}", e)
    }

  override def close(): Unit = {
    env.shutdown()
    env.awaitTermination()
  }

  /** The innermost cause says what happened; the outer ones that an answer was awaited. */
  private def reason(e: Throwable): String = {
    val causes = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(10).toSeq
    val cause = causes.last
    s"${cause.getClass.getSimpleName}${Option(cause.getMessage).fold("")(m => ": " + m.takeWhile(_ != '\n').take(160))}"
  }
}

private[slaq] object RemoteArbiter {
  /** The first answer takes longest: both sides load classes and make keys. */
  val AnswerSeconds = 5
}
