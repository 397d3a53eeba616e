package org.apache.spark.slaq.engine

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.util.Locale

/**
 * What a native library must have been built for: the JVM's own processor and C library, not the machine's.
 *
 * @param os as in the jar's folders: linux, macos, …
 * @param arch as in the jar's folders: x86_64, aarch64, …, with `-musl` added where that is the C library
 */
private[engine] final case class Platform(os: String, arch: String) {

  /** Where a jar carries the library for this platform. */
  def resource: String = s"/org/apache/spark/slaq/native/$os/$arch/${System.mapLibraryName("slaq_core")}"

  override def toString: String = s"$os/$arch"
}

private[engine] object Platform {

  def current: Platform = of(System.getProperty("os.name"), System.getProperty("os.arch"), mappedFiles)

  /**
   * The platform by the names that JVMs use.
   *
   * @param mapped text of the process's memory map. It tells musl from glibc: the loader's file may exist on a machine
   *               whose JVM doesn't use it, but is mapped only where it does
   */
  def of(osName: String, osArch: String, mapped: => String): Platform = {
    val os = osName.toLowerCase(Locale.ROOT) match {
      case name if name.startsWith("mac") || name.startsWith("darwin") => "macos"
      case name => folder(name)
    }
    val arch = osArch.toLowerCase(Locale.ROOT) match {
      case "amd64" | "x86-64" => "x86_64"
      case "arm64" => "aarch64"
      case name => folder(name)
    }
    Platform(os, if (os == "linux" && mapped.contains("/ld-musl-")) s"$arch-musl" else arch)
  }

  /** Any other name as a folder name, so that it can be looked for and shown. */
  private def folder(name: String): String = name.replaceAll("[^a-z0-9_]+", "_")

  private def mappedFiles: String =
    try new String(Files.readAllBytes(Paths.get("/proc/self/maps")), UTF_8)
    catch { case _: IOException => "" }
}
