import { type Attach, messageOf } from '@sonde/sdk/internal'
import { wrong } from './announced.ts'
import type { Answers } from './answers.ts'
import { ClientSlotFile } from './client-slot-file.ts'
import { PAGE_BYTES } from './config.ts'

/** The file in which a client has its pages: it is offered, and used once the client proved that it is its own. */
export class Attachment {
  readonly #socketsDir: string
  readonly #answers: Answers
  #offered: ClientSlotFile | undefined
  #file: ClientSlotFile | undefined

  constructor(socketsDir: string, answers: Answers) {
    this.#socketsDir = socketsDir
    this.#answers = answers
  }

  /** The file; undefined while none is proven. */
  get file(): ClientSlotFile | undefined {
    return this.#file
  }

  /**
   * Opens a file, and asks for a proof that it is the client's.
   *
   * @throws SondeError `IPC_FRAME` if the client offered one before.
   */
  offer(attach: Attach): void {
    if (this.#file !== undefined || this.#offered !== undefined) throw wrong('a second file was attached', 'one')
    try {
      this.#offered = new ClientSlotFile(attach, this.#socketsDir, PAGE_BYTES)
      this.#answers.send({ kind: 'challenge', body: { nonce: this.#offered.nonce } })
    } catch (error) {
      this.#answers.send({ kind: 'attached', body: { ok: false, reason: messageOf(error).slice(0, 1000) } })
    }
  }

  /**
   * Uses the file that was offered where it begins with the nonce.
   *
   * @throws SondeError `IPC_FRAME` if nothing was offered.
   */
  prove(): void {
    const file = this.#offered
    if (file === undefined) throw wrong('a proof came', 'one for each challenge')
    this.#offered = undefined
    if (file.isProven()) {
      this.#file = file
      this.#answers.send({ kind: 'attached', body: { ok: true, reason: '' } })
    } else {
      file.close()
      this.#answers.send({ kind: 'attached', body: { ok: false, reason: 'the file does not begin with the nonce' } })
    }
  }

  close(): void {
    this.#file?.close()
    this.#offered?.close()
  }
}
