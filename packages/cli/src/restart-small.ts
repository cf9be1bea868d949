/**
 * What a sweep makes is garbage by the next one. Left to itself V8 lets 48 MB of it grow before it looks, and of what
 * has survived that, with the memory outside of its heap, as much again as there is. What comes and goes in such waves
 * leaves memory in pieces, and a process that grows for hours. The last one keeps SIGUSR1 from opening a port for
 * debuggers, also before the command can.
 */
const FLAGS = ['--max-semi-space-size=2', '--heap-growing-percent=25', '--disable-sigusr1']
/**
 * Without a limit each thread that asks the C library for memory keeps a piece of its own, and what it held at most.
 * Left to itself the library also keeps blocks of up to 32 MB for later once one of them was freed, and small blocks
 * that stay hold what was freed between them.
 */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '8192' }

/**
 * Starts this program again in its own place, with the same process id and arguments, where it may still say how much
 * memory it wants: V8 and the C library ask that once. Together they make an agent some 25 MB smaller. Returns where
 * that was done already. See ADR 6.
 */
export function restartSmall(): void {
  if (FLAGS.every((flag) => process.execArgv.includes(flag))) return
  const [program, script, ...args] = process.argv
  const env = { ...ENVIRONMENT, ...process.env }
  process.execve?.(process.execPath, [program ?? 'node', ...process.execArgv, ...FLAGS, script ?? '', ...args], env)
}
