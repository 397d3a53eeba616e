// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import org.apache.xbean.asm9.{ClassReader, ClassVisitor, ClassWriter, Label, MethodVisitor, Opcodes, Type}

/**
 * Puts probes into the bytes of a class, with the copy of ASM that Spark ships. Only calls are inserted, on straight
 * lines, so stack frames stay as they are and need not be computed (which would load classes); the one exception is
 * the handler of [[Place.Leave]], at the method's end, whose frame is the method's own parameters.
 */
private[loss] object Weaver {
  private val Api = Opcodes.ASM9
  private val ProbesName = "org/apache/spark/slaq/loss/Probes"

  /** The woven class, or why a hook does not fit it. The class itself is then to be left alone. */
  def weave(bytes: Array[Byte], hooks: Seq[Hook]): Either[String, Array[Byte]] = {
    val reader = new ClassReader(bytes)
    val writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS)
    val sites = hooks.map(hook => hook -> new Site).toMap
    reader.accept(new ClassVisitor(Api, writer) {
      override def visitMethod(access: Int, name: String, descriptor: String, signature: String,
          exceptions: Array[String]): MethodVisitor = {
        val out = super.visitMethod(access, name, descriptor, signature, exceptions)
        val real = (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE | Opcodes.ACC_BRIDGE)) == 0
        val here = if (real) hooks.filter(_.in(name, descriptor)) else Nil
        if (here.isEmpty) out
        else new ProbedMethod(out, reader.getClassName, access, descriptor, here.map(hook => hook -> sites(hook)))
      }
    }, 0)
    hooks.map(hook => hook -> sites(hook)).collectFirst {
      case (hook, site) if site.obstacle != null => s"$hook: ${site.obstacle}"
      case (hook, site) if site.found != hook.sites => s"$hook: found ${site.found} times instead of ${hook.sites}"
    }.toLeft(writer.toByteArray)
  }

  /** What was found for one hook while a class was read. */
  private final class Site {
    var found = 0
    var obstacle: String = _
  }

  private final class ProbedMethod(out: MethodVisitor, owner: String, access: Int, descriptor: String,
      hooks: Seq[(Hook, Site)]) extends MethodVisitor(Api, out) {
    import Opcodes._

    private val isStatic = (access & ACC_STATIC) != 0
    private val parameters = Type.getArgumentTypes(descriptor)
    private val slots = parameters.scanLeft(if (isStatic) 0 else 1)(_ + _.getSize)
    private val leaving = hooks.filter(_._1.place == Place.Leave)
    private val begin = new Label
    private val end = new Label

    override def visitCode(): Unit = {
      out.visitCode()
      if (leaving.nonEmpty) out.visitLabel(begin)
      hooks.foreach {
        case (hook, site) if hook.place == Place.Entry =>
          site.found += 1
          call(hook, 0)
        case (hook, site) if hook.place == Place.Leave || hook.place == Place.Return => site.found += 1
        case _ =>
      }
    }

    override def visitInsn(opcode: Int): Unit = {
      if (opcode >= IRETURN && opcode <= RETURN) hooks.foreach {
        case (hook, _) if hook.place == Place.Return =>
          if (opcode == ARETURN) out.visitInsn(DUP)
          call(hook, if (opcode == ARETURN) 1 else 0)
        case (hook, _) if hook.place == Place.Leave =>
          out.visitInsn(ACONST_NULL)
          call(hook, 1)
        case _ =>
      }
      out.visitInsn(opcode)
    }

    override def visitMethodInsn(opcode: Int, target: String, name: String, called: String, isInterface: Boolean): Unit = {
      at(Place.Before(name))(Type.getArgumentTypes(called).last)
      out.visitMethodInsn(opcode, target, name, called, isInterface)
      at(Place.After(name))(Type.getReturnType(called))
    }

    override def visitFieldInsn(opcode: Int, target: String, name: String, descriptor: String): Unit = {
      if (opcode == PUTFIELD && target == "scala/runtime/DoubleRef") at(Place.DoubleStore)(Type.DOUBLE_TYPE)
      out.visitFieldInsn(opcode, target, name, descriptor)
    }

    override def visitVarInsn(opcode: Int, slot: Int): Unit = {
      if (opcode >= ISTORE && opcode <= ASTORE) stored(slot)
      out.visitVarInsn(opcode, slot)
    }

    override def visitIincInsn(slot: Int, by: Int): Unit = {
      stored(slot)
      out.visitIincInsn(slot, by)
    }

    override def visitMaxs(stack: Int, locals: Int): Unit = {
      if (leaving.nonEmpty) {
        out.visitLabel(end)
        out.visitTryCatchBlock(begin, end, end, null) // last in the table: the method's own handlers come first
        val frame = (if (isStatic) Nil else List(owner)) ++ parameters.map(frameType)
        out.visitFrame(F_FULL, frame.length, frame.map(_.asInstanceOf[AnyRef]).toArray, 1, Array("java/lang/Throwable"))
        leaving.foreach { case (hook, _) =>
          out.visitInsn(DUP)
          call(hook, 1)
        }
        out.visitInsn(ATHROW)
      }
      out.visitMaxs(stack, locals)
    }

    /** A value of this type is on top of the stack, at a place of some hooks. */
    private def at(place: Place)(value: => Type): Unit = hooks.foreach {
      case (hook, site) if hook.place == place =>
        if (hook.only < 0 || hook.only == site.found) {
          out.visitInsn(if (value.getSize == 2) DUP2 else DUP)
          box(value)
          call(hook, 1)
        }
        site.found += 1
      case _ =>
    }

    /** Calls the probe with the objects on the stack and the hook's arguments. */
    private def call(hook: Hook, onStack: Int): Unit = {
      hook.arguments.foreach {
        case -1 => out.visitVarInsn(ALOAD, 0)
        case n =>
          out.visitVarInsn(parameters(n).getOpcode(ILOAD), slots(n))
          box(parameters(n))
      }
      out.visitLdcInsn(hook.probe)
      val values = "Ljava/lang/Object;" * (onStack + hook.arguments.length)
      out.visitMethodInsn(INVOKESTATIC, ProbesName, "hit", s"(${values}Ljava/lang/String;)V", false)
    }

    private def box(of: Type): Unit = boxes.get(of.getSort).foreach { name =>
      out.visitMethodInsn(INVOKESTATIC, name, "valueOf", s"(${of.getDescriptor})L$name;", false)
    }

    /** The handler's frame is right only while parameters keep what they were called with. */
    private def stored(slot: Int): Unit =
      if (slot < slots.last) leaving.foreach(_._2.obstacle = "the method stores into a parameter")
  }

  private val boxes = Map(Type.BOOLEAN -> "java/lang/Boolean", Type.INT -> "java/lang/Integer",
    Type.LONG -> "java/lang/Long", Type.DOUBLE -> "java/lang/Double")

  private def frameType(of: Type): Any = of.getSort match {
    case Type.OBJECT | Type.ARRAY => of.getInternalName
    case Type.DOUBLE => Opcodes.DOUBLE
    case Type.LONG => Opcodes.LONG
    case Type.FLOAT => Opcodes.FLOAT
    case _ => Opcodes.INTEGER
  }
}
