import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { SondeError } from '@sonde/sdk'
import type { Hello } from '@sonde/sdk/internal'
import { KEY_BYTES, keyIn } from './key-file.ts'

/** The id of a client, and its secret. */
type Identity = Pick<Hello, 'client' | 'secret'>

/**
 * Issues the ids of clients, and a secret for each id, which proves the identity of a client. A secret is derived from
 * the id and the key of the service, so that no state is kept, and it is valid as long as the key.
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
   * The identity of a client; a client without an id gets a new one.
   *
   * @throws SondeError `IPC_SECRET` if the secret does not match the id.
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
