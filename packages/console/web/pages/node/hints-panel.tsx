import type { HintsAnswer } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import type { FrameRange } from '../../api/frame.ts'
import { useNode } from '../../api/resources.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { placeWords } from '../../devices/hint-words.ts'
import { incidentPathOfHint } from '../../devices/incident-path.ts'
import { countText } from '../../format/number.ts'
import { zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { useMoment } from '../use-moment.ts'
import { useMomentHints, useSpokenMoment } from '../use-moment-hints.ts'
import { evidenceOf } from './evidence.ts'
import { hintNotes, hintRow, shownHints } from './hint-row.ts'

/** Hints that are open or ended within the last hour, or the hints of a past window. */
export function HintsPanel({
  devices,
  window,
}: {
  readonly devices: readonly DeviceInfo[]
  /** Default: the window of the page. */
  readonly window?: FrameRange | undefined
}) {
  const page = usePageState()
  const node = useNode().data?.node
  const now = useMoment(window)
  const seen = useMomentHints(now)
  const moment = useSpokenMoment(now)
  const { data, error } = seen
  const { zone, tense } = moment
  if (!data) return error ? <NoRules reason={error.message} /> : null
  const { shown } = shownHints(seen)
  const { empty, notes } = hintNotes(seen, moment)
  const when = !now.isNow ? 'in this window' : `${tense === 'past' ? 'as last known' : 'now'}, and the last hour`
  const rows = shown.map((hint) => ({ hint, ...hintRow(hint, moment) }))
  const columns: readonly TableColumn<(typeof rows)[number]>[] = [
    { key: 'state', head: 'State', cell: ({ state }) => <StateMark {...state} /> },
    {
      key: 'seen',
      head: 'What is seen',
      isWide: true,
      look: 'is-wrapping',
      cell: ({ hint, title, sentence }) => (
        <>
          {node === undefined ? (
            title
          ) : (
            <Link href={page.hrefTo(incidentPathOfHint(node, hint), { fromMs: undefined, toMs: undefined })}>
              {title}
            </Link>
          )}
          <span className="hint-sentence">{sentence}</span>
        </>
      ),
    },
    {
      key: 'device',
      head: 'Device',
      cell: ({ hint }) => {
        const device = devices.find(({ id }) => id === hint.device)
        return device ? <Link href={page.hrefTo(devicePath(device))}>{deviceTitle(device)}</Link> : placeWords(hint)
      },
    },
    {
      key: 'began',
      head: `Began, ${zoneName(zone, moment.nowMs)}`,
      kind: 'number',
      label: 'began',
      cell: ({ began }) => began,
    },
    { key: 'lasted', head: 'Lasted', kind: 'number', label: 'lasted', cell: ({ lasted }) => lasted },
    {
      key: 'evidence',
      head: 'Evidence',
      cell: ({ hint, title }) => (
        <Link href={page.hrefTo('/explore', evidenceOf(hint, moment))} aria-label={`Explore the evidence of: ${title}`}>
          Explore
        </Link>
      ),
    },
  ]
  return (
    <section className="panel" aria-labelledby="hints-panel">
      <header className="panel-head has-line">
        <h2 id="hints-panel" className="panel-title">
          Hints
        </h2>
        <span className="panel-caption is-whole">
          {seeingWords(data)} · {when}
        </span>
      </header>
      {shown.length === 0 ? (
        <p className="panel-note">{empty}</p>
      ) : (
        <DataTable
          label="Table of hints"
          look="is-stacked hints-table"
          columns={columns}
          rows={rows}
          keyOf={({ hint }) => hint.event}
        />
      )}
      {notes && <p className="panel-note">{notes}</p>}
    </section>
  )
}

/** How many rules there are, and how many have a signal to check. */
function seeingWords({ rules, blind }: HintsAnswer): string {
  if (blind.length === 0) return countText(rules, 'rule')
  return `${rules - blind.length} of ${countText(rules, 'rule')} have signals here`
}

function NoRules({ reason }: { readonly reason: string }) {
  return (
    <Panel id="hints-panel" title="Hints">
      <p className="panel-note">Not known. {reason}</p>
    </Panel>
  )
}
