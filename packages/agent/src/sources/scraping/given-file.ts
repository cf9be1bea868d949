import { realpath } from 'node:fs/promises'
import { messageOf } from '@sonde/sdk'
import { readTextFile, type TextFile } from '@sonde/sdk/internal'

/**
 * The text of a file that the configuration names. Links are followed: Kubernetes mounts a ConfigMap, a secret and the
 * token of a service account as links.
 *
 * @throws SondeError that `fault` makes, as `readTextFile` has it.
 */
export async function readGivenFile(file: TextFile): Promise<string> {
  const path = await realpath(file.path).catch((cause: unknown) => {
    throw file.fault('read', `cannot be read: ${messageOf(cause)}`, cause)
  })
  return readTextFile({ ...file, path })
}
