package org.apache.spark.slaq.arbiter

import org.apache.spark.{SecurityManager, SparkConf}
import org.apache.spark.rpc.RpcEnv

/**
 * RPC between drivers and the arbiter: Spark's own, in an environment of its own on both sides, because the
 * application's has a secret that no other application knows.
 */
private[arbiter] object Rpc {
  val Endpoint = "slaq-arbiter"

  /** A server that listens on exactly this port: a moved one would not be found. */
  def server(host: String, port: Int, secret: Option[String]): RpcEnv = {
    val conf = settings(secret).set("spark.port.maxRetries", "0")
    RpcEnv.create(Endpoint, host, host, port, conf, security(conf, secret), 2, clientMode = false)
  }

  /** A client, which opens no port and needs few threads. */
  def client(host: String, secret: Option[String], timeoutSeconds: Int): RpcEnv = {
    val conf = settings(secret)
      .set("spark.rpc.io.threads", "1")
      .set("spark.rpc.netty.dispatcher.numThreads", "1")
      .set("spark.rpc.io.maxRetries", "0")
      .set("spark.rpc.askTimeout", s"${timeoutSeconds}s")
      .set("spark.network.timeout", s"${timeoutSeconds * 10}s")
      .set("spark.rpc.io.connectionTimeout", s"${timeoutSeconds * 10}s")
      .set("spark.rpc.io.connectionCreationTimeout", s"${timeoutSeconds}s")
    RpcEnv.create(s"$Endpoint-client", host, host, -1, conf, security(conf, secret), 1, clientMode = true)
  }

  private def settings(secret: Option[String]): SparkConf = {
    val conf = new SparkConf(false)
    secret.foreach { value =>
      conf.set("spark.authenticate", "true").set("spark.authenticate.secret", value)
        .set("spark.network.crypto.enabled", "true").set("spark.network.crypto.saslFallback", "false")
    }
    conf
  }

  /** Spark would take the application's secret on YARN and Kubernetes, where it lies in the user's credentials. */
  private def security(conf: SparkConf, secret: Option[String]): SecurityManager = new SecurityManager(conf) {
    override def getSecretKey(): String = secret.orNull
  }
}
