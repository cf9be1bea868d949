import { messageOf, SondeError } from '../../errors.ts'
import type { Attached, Challenge, ClientMessage } from '../../wire/ipc/frame.ts'
import type { IpcConfig } from './config.ts'
import { SHORT_BYTES } from './connection.ts'
import { SlotFile } from './slot-file.ts'
import { HEADROOM_BYTES, type SpooledPage } from './spool.ts'

/**
 * The shared memory of one connection. It is offered in one directory after the other until the service can read it;
 * meanwhile, and where it never can, pages go through the socket.
 */
export class SharedPages {
  /** Why there is none, for each directory that was tried. */
  readonly #reasons: string[] = []
  readonly #config: IpcConfig
  readonly #send: (message: ClientMessage) => void
  readonly #directories: string[]
  #file: SlotFile | undefined
  #isAttached = false
  /** Whether the service has challenged the file: it does once. */
  #isAsked = false

  constructor(config: IpcConfig, send: (message: ClientMessage) => void) {
    this.#config = config
    this.#send = send
    this.#directories = config.slots === 0 ? [] : [...new Set([config.sharedDir, config.socketsDir])]
    if (config.slots === 0) this.#reasons.push('slots is 0')
    else this.#offer()
  }

  /** Why pages go through the socket; empty if they do not. */
  get inlineReason(): string {
    if (this.#isAttached) return ''
    return this.#reasons.join('; ') || 'the service has not answered yet'
  }

  /** The service has the file open, and asks whether it is this client's. */
  prove({ nonce }: Challenge): void {
    if (this.#file === undefined || this.#isAsked) throw unexpected('challenge')
    this.#isAsked = true
    try {
      this.#file.unlink()
      this.#file.prove(nonce)
    } catch (error) {
      // Without the nonce the service refuses the file, and the next directory is tried.
      this.#reasons.push(messageOf(error))
    }
    this.#send({ kind: 'proof', body: {} })
  }

  /** The service looked for the file. */
  answer({ ok, reason }: Attached): void {
    if (this.#file === undefined || this.#isAttached) throw unexpected('attached')
    this.#file.unlink()
    this.#isAttached = ok
    if (ok) return
    this.#giveUp(reason)
    this.#offer()
  }

  /**
   * Whether a page that belongs into a slot finds all of them taken: the service acknowledges, and frees, the oldest of
   * them first.
   */
  isFullFor({ byteLength }: SpooledPage): boolean {
    if (!this.#isAttached || byteLength < SHORT_BYTES || byteLength > this.#config.slotBytes) return false
    return this.#file?.isFull === true
  }

  /** Puts a page into a slot; undefined if it goes through the socket. */
  put({ sequence, block, byteLength }: SpooledPage): number | undefined {
    if (!this.#isAttached || byteLength < SHORT_BYTES) return undefined
    try {
      return this.#file?.put(sequence, block.subarray(HEADROOM_BYTES, HEADROOM_BYTES + byteLength))
    } catch (error) {
      // What lies in slots already can still be read: the service has the file open.
      this.#giveUp(messageOf(error))
      return undefined
    }
  }

  release(sequence: number): void {
    this.#file?.release(sequence)
  }

  close(): void {
    this.#giveUp('the connection is over')
  }

  #offer(): void {
    const { slots, slotBytes } = this.#config
    for (let directory = this.#directories.shift(); directory !== undefined; directory = this.#directories.shift()) {
      try {
        this.#file = new SlotFile(directory, slots, slotBytes)
        this.#isAsked = false
        this.#send({ kind: 'attach', body: { file: this.#file.path, slots, slotBytes } })
        return
      } catch (error) {
        this.#giveUp(messageOf(error))
      }
    }
  }

  #giveUp(reason: string): void {
    this.#reasons.push(reason)
    this.#isAttached = false
    this.#file?.close()
    this.#file = undefined
  }
}

function unexpected(what: string): SondeError {
  return new SondeError('IPC_FRAME', `the service sent ${what} for no file that it was offered; is it of Sonde?`)
}
