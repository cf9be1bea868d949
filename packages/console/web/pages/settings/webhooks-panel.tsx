import type { WebhookDelivery, WebhookReceiver, WebhooksAnswer } from '@sonde/sdk/api'
import { useState } from 'react'
import type { ApiError } from '../../api/client.ts'
import { testWebhook, useWebhooks } from '../../api/webhooks.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText } from '../../format/number.ts'
import { formatDuration } from '../../format/time.ts'
import { deliveryMark } from './delivery-words.ts'

/** The receivers of webhooks without their URLs, each with a button that sends a test. */
export function WebhooksPanel({ mayChange }: { readonly mayChange: boolean }) {
  const { data, error } = useWebhooks()
  return (
    <Panel id="webhooks" title="Webhooks" caption={data ? countText(data.receivers.length, 'receiver') : ''}>
      {!data && error && <p className="panel-note">{error.message}</p>}
      {data && data.receivers.length === 0 && (
        <p className="panel-note">
          Nobody is told of events. Receivers stand in the configuration file, under{' '}
          <code>console.webhooks.receivers</code>.
        </p>
      )}
      {data && data.receivers.length > 0 && <Receivers answer={data} mayChange={mayChange} />}
      {data?.skipped.map(({ name, reason, message }) => (
        <p key={name} className="panel-note webhook-skipped">
          <StateMark tone="warning" word={`Left out: ${name}`} /> {message} (<code>{reason}</code>)
        </p>
      ))}
    </Panel>
  )
}

function Receivers({ answer, mayChange }: { readonly answer: WebhooksAnswer; readonly mayChange: boolean }) {
  const [results, setResults] = useState<Readonly<Record<string, TestResult>>>({})
  const send = async (receiver: string): Promise<void> => {
    const set = (result: TestResult) => setResults((before) => ({ ...before, [receiver]: result }))
    set({ isSent: true })
    try {
      const delivery = await testWebhook(receiver)
      set(delivery === undefined ? {} : { delivery })
    } catch (error) {
      set({ fault: (error as ApiError).message })
    }
  }
  const columns: readonly TableColumn<WebhookReceiver>[] = [
    { key: 'name', head: 'Receiver', kind: 'rowHead', cell: ({ name }) => name },
    { key: 'host', head: 'Host', look: 'mono', cell: ({ urlHost }) => urlHost },
    { key: 'events', head: 'Events', label: 'Events', look: 'is-wrapping', cell: eventWords },
    { key: 'signed', head: 'Signed', label: 'Signed', cell: signedWords },
    {
      key: 'timeout',
      head: 'Timeout',
      label: 'Timeout',
      kind: 'number',
      cell: ({ timeoutMs }) => formatDuration(timeoutMs),
    },
    { key: 'succeeded', head: 'Delivered', label: 'Delivered', kind: 'number', cell: ({ succeeded }) => succeeded },
    { key: 'failed', head: 'Failed', label: 'Failed', kind: 'number', cell: ({ failed }) => failed },
    { key: 'waiting', head: 'Waiting', label: 'Waiting', kind: 'number', cell: ({ waiting }) => waiting },
    {
      key: 'test',
      head: 'Test',
      isWide: true,
      look: 'is-wrapping webhook-test',
      cell: ({ name, fault }) => (
        <>
          {mayChange && (
            <button
              type="button"
              className="button"
              aria-label={`Send test to ${name}`}
              disabled={results[name]?.isSent === true}
              onClick={() => void send(name)}
            >
              Send test
            </button>
          )}
          <span aria-live="polite">
            <TestWords result={results[name]} fault={fault} />
          </span>
        </>
      ),
    },
  ]
  return (
    <DataTable
      label="Table of receivers"
      look="is-stacked"
      columns={columns}
      rows={answer.receivers}
      keyOf={({ name }) => name}
    />
  )
}

/** The state of a test: sent, ended or refused. Empty before the first. */
interface TestResult {
  readonly isSent?: boolean
  readonly delivery?: WebhookDelivery
  readonly fault?: string
}

function TestWords({
  result,
  fault = '',
}: {
  readonly result: TestResult | undefined
  readonly fault?: string | undefined
}) {
  if (result?.isSent === true) return <StateMark tone="info" word="Sending…" />
  if (result?.fault !== undefined) return <StateMark tone="critical" word={result.fault} />
  if (result?.delivery !== undefined) return <StateMark {...deliveryMark(result.delivery)} />
  return fault === '' ? null : <StateMark tone="warning" word={fault} />
}

function eventWords({ events }: WebhookReceiver): string {
  return events.includes('*') ? 'all' : events.join(', ')
}

function signedWords({ signatures: { standard, convox } }: WebhookReceiver): string {
  const kinds = [standard > 0 && countText(standard, 'secret'), convox > 0 && countText(convox, 'key')].filter(Boolean)
  return kinds.length === 0 ? 'no' : kinds.join(', ')
}
