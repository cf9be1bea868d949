import { resolve } from 'node:path'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import { encodeTextLines } from '../../wire/fluent-text/encode.ts'
import { oneWrite } from '../one-write.ts'
import { checkLineOptions } from '../text-options.ts'
import { type FileOptions, fileTarget } from './config.ts'
import { LineFile } from './line-file.ts'

/**
 * Appends records as lines of text to a file.
 *
 * @throws SondeError `OUT_OPTION` for an option that is not allowed, `DLV_OPTION` for a limit out of range.
 */
export function createFile(options: FileOptions): DeliverySink {
  const { path, ...limits } = fileTarget(options)
  const lines = checkLineOptions(options, ' of file')
  const file = new LineFile({ path: resolve(path), ...limits })
  return delivery<Uint8Array>({
    name: 'file',
    ...options,
    concurrency: 1,
    encode: (batches) => Buffer.from(encodeTextLines(batches, lines)),
    send: oneWrite((bytes) => file.append(bytes)),
    close: () => file.leave(),
  })
}
