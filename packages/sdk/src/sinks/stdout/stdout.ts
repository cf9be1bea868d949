import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import { encodeTextLines } from '../../wire/fluent-text/encode.ts'
import { oneWrite } from '../one-write.ts'
import { checkLineOptions } from '../text-options.ts'
import type { StdoutOptions } from './config.ts'
import { Descriptor } from './descriptor.ts'

const STDOUT = 1

/**
 * Writes records as lines of text to standard output.
 *
 * @param fd Descriptor that is written to. Default: that of standard output.
 * @throws SondeError `OUT_OPTION` for an option that is not allowed, `DLV_OPTION` for a limit out of range.
 */
export function createStdout(options: StdoutOptions = {}, fd: number = STDOUT): DeliverySink {
  const lines = checkLineOptions(options, ' of stdout')
  const descriptor = new Descriptor(fd)
  return delivery<Uint8Array>({
    name: 'stdout',
    ...options,
    concurrency: 1,
    encode: (batches) => Buffer.from(encodeTextLines(batches, lines)),
    send: oneWrite((bytes) => descriptor.write(bytes)),
    close: () => descriptor.close(),
  })
}
