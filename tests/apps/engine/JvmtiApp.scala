package org.apache.spark.slaq.loss

import org.apache.commons.io.IOUtils
import org.apache.xbean.asm9.{ClassReader, ClassVisitor, ClassWriter, MethodVisitor, Opcodes}

/** Redefines and replaces classes of the running JVM: `JvmtiApp JAR`, with a jar that is not on the class path. */
object JvmtiApp {

  def main(args: Array[String]): Unit = {
    val jvmti = Jvmti.open().fold(throw _, identity)
    def say(name: String, outcome: Any): Unit = println(s"$name|$outcome")

    def loaded(name: String): Boolean = jvmti.loadedClasses().exists(_.getName == getClass.getPackage.getName + "." + name)
    val answer = new Answer
    say("loaded", s"${loaded("Answer")} ${loaded("Later")}")
    say("to be replaced", jvmti.replaceOnLoad(internal("Later"), bytes("Later"), rewritten(answers = 42, "Later")))
    say("replaced", (new Later).value)
    say("of another build", jvmti.replaceOnLoad(internal("Changed"), bytes("Later"), rewritten(answers = 42, "Changed")))
    say("not replaced", (new Changed).value)

    say("before", answer.value)
    say("redefined", jvmti.redefine(classOf[Answer], rewritten(answers = 42)))
    say("after", answer.value)
    val broken = jvmti.redefine(classOf[Answer], rewritten(answers = -1))
    say("fails verification", s"$broken ${jvmti.errorName(broken)}")
    say("not a class file", jvmti.errorName(jvmti.redefine(classOf[Answer], Array[Byte](1, 2, 3))))
    say("another class's bytes", jvmti.errorName(jvmti.redefine(classOf[String], rewritten(answers = 42))))
    say("primitive", jvmti.errorName(jvmti.redefine(java.lang.Integer.TYPE, rewritten(answers = 42))))
    say("untouched", answer.value)
    say("null class", scala.util.Try(jvmti.redefine(null, rewritten(answers = 42))).failed.get)
    say("null bytes", scala.util.Try(jvmti.redefine(classOf[Answer], null)).failed.get)

    say("absent jar", jvmti.errorName(jvmti.addToSystemClassPath("/nowhere/absent.jar")))
    say("jar", jvmti.errorName(jvmti.addToSystemClassPath(args(0))))
    say("resource", Option(ClassLoader.getSystemResource("probe.txt")).isDefined)
    say("names", Seq(0, 62, 99, 116, 7, -3, -9).map(jvmti.errorName).mkString(" "))
  }

  private def internal(name: String): String = getClass.getPackage.getName.replace('.', '/') + "/" + name

  private def bytes(name: String): Array[Byte] = {
    val in = getClass.getResourceAsStream(name + ".class")
    try IOUtils.toByteArray(in) finally in.close()
  }

  /** The class with another constant, or, for a negative one, with no value to return at all. */
  private def rewritten(answers: Int, name: String = "Answer"): Array[Byte] = {
    val reader = new ClassReader(bytes(name))
    val writer = new ClassWriter(0)
    reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
      override def visitMethod(access: Int, name: String, descriptor: String, signature: String, exceptions: Array[String]): MethodVisitor =
        new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, exceptions)) {
          override def visitIntInsn(opcode: Int, operand: Int): Unit =
            if (answers >= 0) super.visitIntInsn(opcode, answers)
        }
    }, 0)
    writer.toByteArray
  }
}

/** What is redefined. */
final class Answer {
  def value: Int = 41
}

/** What is replaced as it is loaded. */
final class Later {
  def value: Int = 41
}

/** What would be replaced, were it what the replacement was made from. */
final class Changed {
  def value: Int = 41
}
