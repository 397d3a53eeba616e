package org.apache.spark.slaq.engine

import java.io.IOException
import java.nio.file.{Files, Path, Paths, StandardCopyOption}
import java.util.jar.JarInputStream

import scala.util.control.NonFatal

import org.apache.spark.{SparkConf, SparkEnv}

/**
 * Loads the native library, once for the class loader of this class.
 *
 * Looked for, in this order:
 *  1. the file named by `spark.slaq.native.path`, loaded where it is;
 *  1. this jar's own copy for the JVM's platform, unpacked to a file of its own in `spark.slaq.native.tmpdir` (default:
 *     the JVM's folder for temporary files), which is deleted as soon as it is loaded. A JVM refuses to load one file
 *     for two class loaders; with a file for each, several sessions in one JVM don't meet.
 *
 * The library must be of the version of this jar. Nothing is done in static initialisers and nothing is thrown: the
 * reason of a failure is returned, whole, to everybody who asks.
 */
object NativeLibrary {
  private val PathKey = "spark.slaq.native.path"
  private val TmpDirKey = "spark.slaq.native.tmpdir"

  private final case class Source(file: Option[String], folder: Option[String])

  private var outcome: Option[(Source, Either[Throwable, Unit])] = None

  /** Loads the library as the running application is configured, or as system properties say where none runs yet. */
  def load(): Either[Throwable, Unit] = load(Option(SparkEnv.get).fold(new SparkConf)(_.conf))

  /**
   * Loads the library.
   *
   * @return why it can't be used, as an exception whose message says what to do. Kept: the next call gives the same
   *         answer, unless it failed and the two settings have changed since
   */
  def load(conf: SparkConf): Either[Throwable, Unit] = synchronized {
    val source = Source(conf.getOption(PathKey), conf.getOption(TmpDirKey))
    outcome match {
      case Some((_, loaded @ Right(_))) => loaded
      case Some((`source`, failed)) => failed
      case _ =>
        val result = attempt(source)
        outcome = Some(source -> result)
        result
    }
  }

  private def attempt(source: Source): Either[Throwable, Unit] =
    try {
      source.file match {
        case Some(name) => link(existing(name), s"$PathKey = $name")
        case None => unpacked(source.folder) { file => link(file, s"the copy of this jar's library in ${file.getParent}") }
      }
      checkVersion()
      Right(())
    } catch {
      case e: NativeLibraryException => Left(e)
      case e @ (NonFatal(_) | _: LinkageError) => Left(new NativeLibraryException(s"the native library can't be loaded: $e", e))
    }

  private def existing(name: String): Path = {
    val file = Paths.get(name).toAbsolutePath
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw new NativeLibraryException(
        s"$PathKey = $name is not a file that can be read; name the native library, or unset $PathKey to use this jar's own")
    }
    file
  }

  private def link(file: Path, what: String): Unit =
    try System.load(file.toString)
    catch {
      case e: UnsatisfiedLinkError =>
        throw new NativeLibraryException(s"$what can't be loaded on ${Platform.current} (${e.getMessage}); " +
          s"build the library on this system with `cargo build --release` and name it in $PathKey", e)
    }

  private def unpacked(folder: Option[String])(use: Path => Unit): Unit = {
    val platform = Platform.current
    val library = getClass.getResourceAsStream(platform.resource)
    if (library == null) {
      throw new NativeLibraryException(s"this jar has no native library for $platform (no ${platform.resource}); " +
        s"build it on this system with `cargo build --release` and name it in $PathKey")
    }
    try {
      val file = temporary(Paths.get(folder.getOrElse(System.getProperty("java.io.tmpdir"))).toAbsolutePath)
      try {
        writing(file.getParent)(Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING))
        // On a file system mounted noexec the bit can be set, yet access() denies execution.
        if (!file.toFile.setExecutable(true) || !file.toFile.canExecute) {
          throw new NativeLibraryException(s"${file.getParent} does not allow its files to be executed (mounted noexec?), " +
            s"so the native library can't be loaded from there; set $TmpDirKey to a folder that does")
        }
        use(file)
      } finally Files.deleteIfExists(file)
    } finally library.close()
  }

  /** A new file, readable by this user alone until the library's own mode is set. */
  private def temporary(folder: Path): Path =
    writing(folder)(Files.createTempFile(folder, "slaq-", "-" + System.mapLibraryName("slaq_core")))

  private def writing[T](folder: Path)(write: => T): T =
    try write
    catch {
      case e: IOException =>
        throw new NativeLibraryException(
          s"the native library can't be unpacked to $folder ($e); set $TmpDirKey to a folder with room that can be written", e)
    }

  private def checkVersion(): Unit = {
    val jar = jarVersion
    val library =
      try new Native().version()
      catch {
        case e: UnsatisfiedLinkError =>
          throw new NativeLibraryException(
            s"the file that was loaded is not SLAQ's native library (${e.getMessage}); name that in $PathKey, or unset $PathKey", e)
      }
    if (library != jar) {
      throw new NativeLibraryException(s"the native library is of version $library, this jar of version $jar; " +
        s"use files of one release, and unset $PathKey unless it is needed")
    }
  }

  /**
   * The version in the manifest of the jar that this class came from. Not by way of the class's package, which has the
   * attributes of whichever jar first brought a class into it.
   */
  private def jarVersion: String = {
    val jar = new JarInputStream(getClass.getProtectionDomain.getCodeSource.getLocation.openStream())
    try {
      val manifest = Option(jar.getManifest).flatMap(m => Option(m.getMainAttributes.getValue("Implementation-Version")))
      manifest.getOrElse("unknown")
    } finally jar.close()
  }
}

/** The native library can't be used; the message says why, and what to do. */
final class NativeLibraryException(message: String, cause: Throwable = null) extends Exception(message, cause)
