import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { SondeError } from '@sonde/sdk'
import type { Hello } from '@sonde/sdk/internal'
import { KEY_BYTES, keyIn } from './key-file.ts'

/** Who a client is, and what proves it. */
type Identity = Pick<Hello, 'client' | 'secret'>

/**
 * The ids that clients get, and the secret of each, without which nobody is believed to be that client. A secret is
 * made of the id and a key that only the service has, so that nothing is kept for a client, and it holds as long as the
 * key does.
 */
export class Secrets {
  #key: Buffer = randomBytes(KEY_BYTES)

  /**
   * Takes the key that a service before left in a folder, or leaves its own there.
   *
   * @throws what the file system says where it cannot be written.
   */
  keepIn(directory: string): void {
    this.#key = keyIn(directory, this.#key)
  }

  /**
   * Who a client is from now on: a client that has no id yet gets one.
   *
   * @throws SondeError `IPC_SECRET` if it does not prove the id that it names.
   */
  identify({ client, secret }: Identity): Identity {
    if (client === 0n) {
      const id = randomBytes(8).readBigUInt64LE() | 1n
      return { client: id, secret: this.#secretOf(id) }
    }
    const [given, expected] = [Buffer.from(secret, 'hex'), Buffer.from(this.#secretOf(client), 'hex')]
    if (given.length === expected.length && timingSafeEqual(given, expected)) return { client, secret }
    throw new SondeError(
      'IPC_SECRET',
      `the secret of client ${client.toString(16)} is another; connect as a new client`,
    )
  }

  #secretOf(client: bigint): string {
    const id = Buffer.alloc(8)
    id.writeBigUInt64LE(client)
    return createHmac('sha256', this.#key).update(id).digest('hex')
  }
}
