import { setFlagsFromString } from 'node:v8'

/**
 * The objects of a sweep are garbage at the next sweep. V8 lets 48 MB of it grow before it collects. For 2 MB, waking
 * other threads costs more than they help. The last flag keeps SIGUSR1 from opening a port for debuggers before the
 * command can prevent that itself.
 */
export const SMALL_FLAGS = ['--max-semi-space-size=2', '--no-parallel-scavenge', '--disable-sigusr1']
/**
 * Without a limit each thread has its own pool in the C library, which keeps its largest size. By default the library
 * also keeps freed blocks of up to 32 MB for later, and small live blocks keep the freed memory between them.
 */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '8192' }

/**
 * Starts this program again in the same process, with the same process id and arguments. Only at the start can a
 * program set memory limits of V8 and the C library. Together the limits make an agent some 25 MB smaller. Returns if
 * that was already done. See ADR 6.
 */
export function restartSmall(): void {
  if (SMALL_FLAGS.every((flag) => process.execArgv.includes(flag))) return
  const [program, script, ...args] = process.argv
  const env = { ...ENVIRONMENT, ...process.env }
  process.execve?.(
    process.execPath,
    [program ?? 'node', ...process.execArgv, ...SMALL_FLAGS, script ?? '', ...args],
    env,
  )
}

/**
 * V8 collects old objects only when they have doubled, together with the memory outside its heap. Such waves fragment
 * the memory, and the process grows for hours. Call this after everything is loaded: with this flag Node does not use
 * the compiled form of its own modules, which makes a start 40 ms slower.
 */
export function growSlowly(): void {
  setFlagsFromString('--heap-growing-percent=25')
}
