import { setFlagsFromString } from 'node:v8'

/**
 * The objects of a sweep are garbage at the next one. V8 lets 48 MB of it grow before it collects. To wake other
 * threads for 2 MB costs more than they help. The last one keeps SIGUSR1 from opening a port for debuggers, also before
 * the command can.
 */
const FLAGS = ['--max-semi-space-size=2', '--no-parallel-scavenge', '--disable-sigusr1']
/**
 * Without a limit each thread has its own pool in the C library, which keeps its largest size. Left to itself the
 * library also keeps blocks of up to 32 MB for later once one of them was freed, and small blocks that stay hold what
 * was freed between them.
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

/**
 * V8 collects old objects only when they, with the memory outside of its heap, have doubled. Such waves fragment the
 * memory, and the process grows for hours. Called once everything is loaded: under this flag Node does not take its own
 * modules as they were compiled when it was built, which makes a start slower by 40 ms.
 */
export function growSlowly(): void {
  setFlagsFromString('--heap-growing-percent=25')
}
