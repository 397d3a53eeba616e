// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import java.io.InputStream
import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}
import java.util.function.BiConsumer
import java.util.jar.{JarEntry, JarOutputStream}

import com.sun.management.HotSpotDiagnosticMXBean
import org.apache.commons.io.IOUtils

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging

/**
 * The probes of this JVM: woven once, listened to by one tap at a time.
 *
 * @param families which families of probes are in place, all of their classes included
 */
private[loss] final class Weaving(probes: Class[_], val families: Set[String]) {
  /** Replaces the listener; null ends listening. */
  def listen(listener: BiConsumer[String, Array[AnyRef]]): Unit =
    probes.getMethod("listen", classOf[BiConsumer[_, _]]).invoke(null, listener)
}

/**
 * Rewrites MLlib and breeze classes, one by one, so that they pass our probes: through JVMTI from our own native
 * library, so without `-javaagent` and without attaching. The rewritten bytes are prepared while the application starts,
 * and take the place of the class's own when it is loaded; a class that is loaded already is redefined. A class that is
 * not as expected stays as it is, and so do the algorithms that need it. Spark finds [[Probes]] through a jar of that
 * class alone on the system class path, since jars from `spark.jars` are invisible to Spark's own class loader.
 */
private[loss] object Weaving extends Logging {
  private val ProbesName = "org.apache.spark.slaq.loss.Probes"

  /** Starts [[install]] on a thread of its own: about 0.3 s of processor time that an application's start need not wait for. */
  def begin(): Unit = {
    val thread = new Thread(() => install(), "slaq-weaving")
    thread.setDaemon(true)
    thread.start()
  }

  /** The classes woven into this JVM, or why there are none. */
  def install(): Either[String, Weaving] = synchronized {
    val started = System.nanoTime()
    try {
      for {
        _ <- forbidden.toLeft(())
        jvmti <- Jvmti.open().left.map(_.getMessage)
        probes <- visibleProbes(jvmti)
      } yield {
        val before = probes.getMethod("woven").invoke(null).asInstanceOf[Array[String]]
        val woven = if (before == null) weaveAll(jvmti, probes, started) else before.toSet
        val families = Hook.all.groupBy(_.family).collect {
          case (family, hooks) if hooks.forall(hook => woven(hook.owner)) => family
        }
        new Weaving(probes, families.toSet)
      }
    } catch { case Harmless(error) => Left(error.toString) }
  }

  /** JVM flags by which an operator says: no agents here. JVMTI would work in spite of them; the wish is respected. */
  private def forbidden: Option[String] = {
    def flag(name: String): Option[String] =
      try Some(ManagementFactory.getPlatformMXBean(classOf[HotSpotDiagnosticMXBean]).getVMOption(name).getValue)
      catch { case Harmless(_) => None }
    if (flag("EnableDynamicAgentLoading").contains("false")) Some("the JVM runs with -XX:-EnableDynamicAgentLoading")
    else if (flag("DisableAttachMechanism").contains("true")) Some("the JVM runs with -XX:+DisableAttachMechanism")
    else None
  }

  private def sparkLoader: ClassLoader = classOf[SparkContext].getClassLoader

  private def resource[T](loader: ClassLoader, name: String)(use: InputStream => T): Option[T] =
    Option(loader.getResourceAsStream(name)).map(in => try use(in) finally in.close())

  /** Our probes as Spark's class loader sees them. */
  private def visibleProbes(jvmti: Jvmti): Either[String, Class[_]] = {
    def find(): Option[Class[_]] =
      try Some(Class.forName(ProbesName, true, sparkLoader)) catch { case _: ClassNotFoundException => None }
    def add(): Either[String, Class[_]] = {
      val entry = ProbesName.replace('.', '/') + ".class"
      val code = resource(getClass.getClassLoader, entry)(IOUtils.toByteArray).getOrElse(throw new ClassNotFoundException(ProbesName))
      val jar = probesJar(entry, code)
      try {
        val error = jvmti.addToSystemClassPath(jar.toString)
        if (error != 0) Left(s"the JVM refuses a jar on its class path (${jvmti.errorName(error)})")
        else find().toRight(s"Spark's class loader (${sparkLoader.getClass.getName}) does not see the system class path")
      } finally Files.deleteIfExists(jar) // the JVM has it open
    }
    find().fold(add())(Right(_))
  }

  private def probesJar(entry: String, code: Array[Byte]): Path = {
    val jar = Files.createTempFile("slaq-probes", ".jar")
    val out = new JarOutputStream(Files.newOutputStream(jar))
    try {
      out.putNextEntry(new JarEntry(entry))
      out.write(code)
    } finally out.close()
    jar
  }

  private def weaveAll(jvmti: Jvmti, probes: Class[_], started: Long): Set[String] = {
    val woven = Hook.owners.map(owner => owner -> weaveOne(jvmti, owner))
    val early = jvmti.loadedClasses().filter(loaded => Hook.owners.contains(internal(loaded)) && ours(loaded))
    val outcomes: Seq[(String, Either[String, Unit])] = woven.map { case (owner, outcome) =>
      owner -> outcome.flatMap(code => early.find(internal(_) == owner).fold[Either[String, Unit]](Right(()))(redefine(jvmti, _, code)))
    }
    val names = outcomes.collect { case (owner, Right(())) => owner }
    probes.getMethod("setWoven", classOf[Array[String]]).invoke(null, names.toArray)
    logInfo(s"SLAQ wove loss probes into ${names.length} classes in ${(System.nanoTime() - started) / 1000000} ms: " +
      names.map(_.replace('/', '.')).mkString(", "))
    outcomes.foreach {
      case (owner, Left(why)) =>
        val families = Hook.all.filter(_.owner == owner).map(_.family).distinct
        logWarning(s"SLAQ leaves ${owner.replace('/', '.')} alone, so its exact losses (${families.mkString(", ")}) " +
          s"are not available: $why")
      case _ =>
    }
    names.toSet
  }

  private def redefine(jvmti: Jvmti, loaded: Class[_], code: Array[Byte]): Either[String, Unit] = {
    val error = jvmti.redefine(loaded, code)
    Either.cond(error == 0, (), s"the JVM refuses the woven class (${jvmti.errorName(error)})")
  }

  private def internal(loaded: Class[_]): String = loaded.getName.replace('.', '/')

  /** Whether a class is the one that Spark uses, and not a copy of a user's. */
  private def ours(loaded: Class[_]): Boolean =
    try Class.forName(loaded.getName, false, sparkLoader) eq loaded catch { case Harmless(_) => false }

  /** The woven bytes of a class, which it has from now on if it is not loaded yet. */
  private def weaveOne(jvmti: Jvmti, owner: String): Either[String, Array[Byte]] =
    try for {
      code <- resource(sparkLoader, owner + ".class")(IOUtils.toByteArray).toRight("this Spark has no such class")
      woven <- Weaver.weave(code, Hook.all.filter(_.owner == owner))
      error = jvmti.replaceOnLoad(owner, code, woven)
      _ <- Either.cond(error == 0, (), s"the JVM refuses to pass on its classes (${jvmti.errorName(error)})")
    } yield woven
    catch { case Harmless(error) => Left(error.toString) }
}
