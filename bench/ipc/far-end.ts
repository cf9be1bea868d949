import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Counted } from './far-end-main.ts'

const MAIN = fileURLToPath(new URL('far-end-main.ts', import.meta.url))

/** The process that counts what comes. */
export class FarEnd {
  readonly socketsDir: string
  readonly #child: ChildProcess

  private constructor(socketsDir: string, child: ChildProcess) {
    this.socketsDir = socketsDir
    this.#child = child
  }

  static async start(mode: 'pages' | 'lines'): Promise<FarEnd> {
    const socketsDir = mkdtempSync(join(tmpdir(), 'sonde-bench-ipc-'))
    const child = fork(MAIN, [mode, socketsDir], { execArgv: process.execArgv, serialization: 'advanced' })
    await once(child, 'message')
    return new FarEnd(socketsDir, child)
  }

  /** What it has counted when the other side has said goodbye; asked for before that. */
  async counted(): Promise<Counted> {
    const [counted] = (await once(this.#child, 'message')) as [Counted]
    return counted
  }

  stop(): void {
    this.#child.kill('SIGKILL')
    rmSync(this.socketsDir, { recursive: true, force: true })
  }
}
