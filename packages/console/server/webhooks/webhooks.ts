import { SondeError } from '@sonde/sdk'
import type { WebhookDeliveriesAnswer, WebhookDelivery, WebhooksAnswer } from '@sonde/sdk/api'
import { messageOf, processTimers, type Timers, within } from '@sonde/sdk/internal'
import { OutboundClient } from '../outbound/outbound-client.ts'
import { auditLine } from './audit-line.ts'
import { Delivery, type DeliveryResult, isSuccess } from './delivery.ts'
import { type DeliveryFilter, DeliveryList } from './delivery-list.ts'
import { messageOfEvent, type WebhookEvent } from './event.ts'
import { ReceiverQueue } from './receiver-queue.ts'
import {
  type Receiver,
  type ReceiverValue,
  readReceivers,
  type SkippedReceiver,
  skipLine,
  wantsEvent,
} from './receivers.ts'
import { readSigningKeys, type SigningOptions, signatureHeaders } from './signatures.ts'

/** How long messages under way may still take when Sonde stops. Unit: milliseconds. */
const CLOSE_LIMIT_MS = 1000

/** Options of {@link Webhooks}. */
export interface WebhooksOptions extends SigningOptions {
  /** Receivers by name, as in the configuration. */
  readonly receivers: Readonly<Record<string, ReceiverValue>>
  /** Attempts after the first. Default: 0. */
  readonly retries?: number
  readonly log: Record<'info' | 'warn', (details: object, message: string) => void>
  /** Takes a line of the audit log. Default: standard output. */
  readonly write?: (line: string) => void
  readonly timers?: Timers
}

/** Sends events to receivers as signed messages, and keeps how it went. */
export class Webhooks {
  readonly #options: WebhooksOptions
  readonly #write: (line: string) => void
  readonly #queues: ReadonlyMap<Receiver, ReceiverQueue>
  readonly #skipped: readonly SkippedReceiver[]
  readonly #list = new DeliveryList()
  readonly #client = new OutboundClient({ allowsPrivate: true })
  readonly #stop = new AbortController()
  #isTesting = false

  constructor(options: WebhooksOptions) {
    this.#options = options
    this.#write = options.write ?? ((line) => console.log(line))
    const { receivers, skipped } = readReceivers(options.receivers)
    const queue = () =>
      new ReceiverQueue({
        attempt: (delivery) => this.#attempt(delivery),
        onResult: (delivery, result) => this.#tell(delivery, result),
        retries: options.retries ?? 0,
        timers: options.timers ?? processTimers,
      })
    this.#queues = new Map(receivers.map((receiver) => [receiver, queue()]))
    this.#skipped = skipped
    for (const one of skipped) {
      this.#write(skipLine(one))
      options.log.warn({ ...one, receiver: one.name, name: undefined }, 'a receiver of webhooks is left out')
    }
    for (const receiver of receivers) this.#warnOfKeys(receiver)
  }

  get hasReceivers(): boolean {
    return this.#queues.size > 0
  }

  /** Sends an event to every receiver that wants it. Returns at once. */
  notify(event: WebhookEvent): void {
    const message = messageOfEvent(event)
    for (const [receiver, queue] of this.#queues) {
      if (wantsEvent(receiver, message.type)) this.#add(queue, new Delivery(receiver, message))
    }
  }

  /**
   * Sends a test to one receiver, or to all, and waits for the answers.
   *
   * @throws SondeError `WHK_UNKNOWN` if there is no such receiver, `WHK_BUSY` while another test runs.
   */
  async test(name?: string): Promise<readonly WebhookDelivery[]> {
    const chosen = [...this.#queues].filter(([receiver]) => name === undefined || receiver.name === name)
    if (chosen.length === 0) throw new SondeError('WHK_UNKNOWN', this.#unknown(name))
    if (this.#isTesting) throw new SondeError('WHK_BUSY', 'another test of webhooks runs; try again when it has ended')
    this.#isTesting = true
    try {
      const data = { message: 'This is a test from Sonde.' }
      const message = messageOfEvent({ type: 'webhook.test', status: 'success', atMs: Date.now(), data })
      const deliveries = chosen.map(([receiver, queue]) =>
        this.#add(queue, new Delivery(receiver, message, { isTest: true })),
      )
      await Promise.all(deliveries.map(({ settled }) => settled))
      return deliveries.map((delivery) => delivery.told())
    } finally {
      this.#isTesting = false
    }
  }

  /** The receivers, without their URLs and keys. */
  answer(): WebhooksAnswer {
    const receivers = [...this.#queues].map(([receiver, queue]) => {
      const { name, urlHost, timeoutMs, events } = receiver
      const { count: waiting, succeeded, failed } = queue
      const { fault: ofKeys, ...signatures } = this.#signatures(receiver)
      const fault = ofKeys ?? queue.fault
      const counts = { waiting, succeeded, failed }
      return { name, urlHost, timeoutMs, events, signatures, ...(fault !== '' && { fault }), ...counts }
    })
    return { receivers, skipped: this.#skipped, retries: this.#options.retries ?? 0 }
  }

  /** The last deliveries, the latest first. */
  deliveries(filter: DeliveryFilter): WebhookDeliveriesAnswer {
    return this.#list.list(filter)
  }

  /** Waits a short time for messages under way; all others fail, which the audit log says. */
  async close(limitMs = CLOSE_LIMIT_MS): Promise<void> {
    const ended = Promise.all([...this.#queues.values()].map((queue) => queue.close()))
    await within(Math.min(limitMs, CLOSE_LIMIT_MS), ended)
    this.#stop.abort()
    await ended
    this.#client.close()
  }

  #add(queue: ReceiverQueue, delivery: Delivery): Delivery {
    this.#list.add(delivery)
    queue.add(delivery)
    return delivery
  }

  /** Sends a message once. Without usable keys nothing is sent. */
  async #attempt({ receiver, message }: Delivery): Promise<DeliveryResult> {
    try {
      const { id, body } = message
      const timestampS = Math.floor(Date.now() / 1000)
      const keys = readSigningKeys(this.#options, receiver)
      const signed = signatureHeaders(keys, { id, timestampS, body }, this.#options.signatureHeader)
      const headers = { 'content-type': 'application/json', 'user-agent': 'sonde', ...signed }
      const { url, timeoutMs: limitMs } = receiver
      const { signal } = this.#stop
      const answer = await this.#client.send({ url, method: 'POST', headers, body, limitMs, signal })
      const waitS = Number(answer.header('retry-after'))
      return { status: answer.status, ...(waitS > 0 && { pauseMs: waitS * 1000 }) }
    } catch (error) {
      // `OUT_TIMEOUT` is `timeout`: the last part of each code says what failed.
      const code = error instanceof SondeError ? error.code : 'WHK_FAULT'
      return { status: 0, error: code.slice(code.indexOf('_') + 1).toLowerCase(), reason: messageOf(error) }
    }
  }

  #tell(delivery: Delivery, result: DeliveryResult): void {
    const { receiver, message, attempts, nextMs } = delivery
    this.#write(auditLine(receiver.urlHost, result))
    const { name, urlHost } = receiver
    const { status, error, reason } = result
    const retryInMs = nextMs === undefined ? undefined : Math.round(nextMs - Date.now())
    const details = {
      receiver: name,
      urlHost,
      id: message.id,
      event: message.type,
      attempts,
      status,
      error,
      reason,
      retryInMs,
    }
    if (isSuccess(result)) this.#options.log.info(details, 'a webhook was delivered')
    else this.#options.log.warn(details, 'a webhook was not delivered')
  }

  #signatures(receiver: Receiver): { standard: number; convox: number; fault?: string } {
    try {
      const { standard, convox } = readSigningKeys(this.#options, receiver)
      return { standard: standard.length, convox: convox.length }
    } catch (error) {
      return { standard: 0, convox: 0, fault: messageOf(error) }
    }
  }

  #warnOfKeys(receiver: Receiver): void {
    const { fault: reason } = this.#signatures(receiver)
    const text = 'a receiver of webhooks gets nothing until its keys are usable'
    if (reason !== undefined) this.#options.log.warn({ receiver: receiver.name, reason }, text)
  }

  #unknown(name = ''): string {
    const names = [...this.#queues.keys()].map((receiver) => receiver.name)
    if (names.length === 0) return 'there are no receivers of webhooks; add them to console.webhooks.receivers'
    return `there is no receiver ${JSON.stringify(name.slice(0, 100))}; allowed: ${names.join(', ')}`
  }
}
