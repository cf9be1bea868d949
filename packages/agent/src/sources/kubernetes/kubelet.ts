import { Client, credentials, Metadata, status } from '@grpc/grpc-js'
import { SondeError } from '@sonde/sdk'
import type { KubernetesOptions } from './config.ts'

const LIST = '/v1.PodResourcesLister/List'
const EMPTY = Buffer.alloc(0)
const asIs = (bytes: Buffer): Buffer => bytes

/** Asks the kubelet of this node on its socket. */
export class Kubelet {
  readonly #options: KubernetesOptions
  #client: Client | undefined

  constructor(options: KubernetesOptions) {
    this.#options = options
  }

  /**
   * The bytes of a whole answer.
   *
   * @throws SondeError `SRC_KUBELET` with the reason and what to do.
   */
  list(): Promise<Uint8Array> {
    const { kubelet_timeout_ms: limitMs } = this.#options
    this.#client ??= this.#connect()
    const client = this.#client
    const deadline = Date.now() + limitMs
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(LIST, asIs, asIs, EMPTY, new Metadata(), { deadline }, (error, answer) => {
        if (error === null && answer !== undefined) {
          resolve(answer)
          return
        }
        // A new connection each time, so that a kubelet that has restarted is found at the next question.
        this.close()
        reject(this.#fault(error?.code, error?.details ?? 'no answer', error))
      })
    })
  }

  /** Closes the connection. May be called twice. */
  close(): void {
    this.#client?.close()
    this.#client = undefined
  }

  #connect(): Client {
    const { kubelet_socket: path, kubelet_max_bytes: bytesMax } = this.#options
    return new Client(`unix:${path}`, credentials.createInsecure(), {
      'grpc.max_receive_message_length': bytesMax,
      'grpc.enable_channelz': 0,
      'grpc.service_config_disable_resolution': 1,
      'grpc.enable_retries': 0,
    })
  }

  #fault(code: status | undefined, details: string, cause: unknown): SondeError {
    const { kubelet_socket: path, kubelet_timeout_ms: limitMs, kubelet_max_bytes: bytesMax } = this.#options
    const because = () => {
      switch (code) {
        case status.DEADLINE_EXCEEDED:
          return `gave no whole answer within ${limitMs} ms`
        case status.RESOURCE_EXHAUSTED:
          return `answers with more than ${bytesMax} bytes, or limits questions: ${quoted(details)}`
        case status.UNIMPLEMENTED:
          return 'does not know PodResources v1; it needs Kubernetes 1.20 or newer'
        default:
          return `does not answer: ${quoted(details)}`
      }
    }
    return new SondeError('SRC_KUBELET', `the kubelet at ${path} ${because()}`, { cause })
  }
}

/** The other end chooses the text of an error. */
function quoted(details: string): string {
  return JSON.stringify(details.slice(0, 200))
}
