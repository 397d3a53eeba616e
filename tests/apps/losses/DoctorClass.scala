// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.test

import java.nio.file.{Files, Paths}

import org.apache.xbean.asm9.{ClassReader, ClassVisitor, ClassWriter, MethodVisitor, Opcodes}

/**
 * Writes a copy of a Spark class that does the same but is not what the probes expect, as another build of Spark might
 * have it: a method begins with one more store into a captured Double. Arguments: class, method, folder for the copy.
 */
object DoctorClass {
  def main(args: Array[String]): Unit = {
    val Array(name, method, folder) = args
    val path = name.replace('.', '/') + ".class"
    val in = getClass.getClassLoader.getResourceAsStream(path)
    val reader = try new ClassReader(in) finally in.close()
    val writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS)
    reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
      override def visitMethod(access: Int, of: String, descriptor: String, signature: String, thrown: Array[String]): MethodVisitor = {
        val out = super.visitMethod(access, of, descriptor, signature, thrown)
        if (of != method) out
        else new MethodVisitor(Opcodes.ASM9, out) {
          override def visitCode(): Unit = {
            super.visitCode()
            super.visitTypeInsn(Opcodes.NEW, "scala/runtime/DoubleRef")
            super.visitInsn(Opcodes.DUP)
            super.visitInsn(Opcodes.DCONST_0)
            super.visitMethodInsn(Opcodes.INVOKESPECIAL, "scala/runtime/DoubleRef", "<init>", "(D)V", false)
            super.visitInsn(Opcodes.DCONST_1)
            super.visitFieldInsn(Opcodes.PUTFIELD, "scala/runtime/DoubleRef", "elem", "D")
          }
        }
      }
    }, 0)
    val file = Paths.get(folder).resolve(path)
    Files.createDirectories(file.getParent)
    Files.write(file, writer.toByteArray)
    println(s"doctored $file")
  }
}
