import type { AppGpuPod, DeviceOfPod, NicOfPod } from '@sonde/sdk/api'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark, type StateTone } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { asSentence } from '../../format/words.ts'

/** One fact of a pod, and why it is believed. */
interface Evidence {
  readonly fact: string
  readonly confidence: 'certain' | 'likely' | 'doubtful' | 'unknown'
  readonly how: string
}

const TONES: Readonly<Record<Evidence['confidence'], StateTone>> = {
  certain: 'ok',
  likely: 'info',
  doubtful: 'warning',
  unknown: 'absent',
}

const COLUMNS: readonly TableColumn<Evidence>[] = [
  { key: 'fact', head: 'Fact', kind: 'rowHead', cell: ({ fact }) => fact },
  {
    key: 'confidence',
    head: 'How sure',
    cell: ({ confidence }) => <StateMark tone={TONES[confidence]} word={confidence} />,
  },
  { key: 'how', head: 'How it is known', look: 'is-wrapping', isWide: true, cell: ({ how }) => how },
]

/** How app, node, GPUs and interfaces of a pod were decided, and contradictions between sources. */
export function PodEvidence(parts: {
  readonly pod: AppGpuPod
  readonly devices: readonly DeviceOfPod[]
  readonly nics: readonly NicOfPod[]
}) {
  const notes = parts.pod.attribution?.notes ?? []
  return (
    <Panel id="pod-evidence" title="How this is known" isPresent className="apps-panel">
      <DataTable
        label="Table of evidence"
        look="is-stacked"
        columns={COLUMNS}
        rows={evidenceOfPod(parts)}
        keyOf={({ fact }) => fact}
      />
      {notes.map((note) => (
        <p key={note} className="panel-note">
          {asSentence(note)}
        </p>
      ))}
    </Panel>
  )
}

/** The facts of a pod with their evidence. */
function evidenceOfPod({
  pod,
  devices,
  nics,
}: {
  readonly pod: AppGpuPod
  readonly devices: readonly DeviceOfPod[]
  readonly nics: readonly NicOfPod[]
}): readonly Evidence[] {
  const { attribution, app, service } = pod
  if (attribution === null) return []
  const { confidence, from, appLabel, serviceLabel, labelsFrom } = attribution
  const resources = [...new Set(devices.map(({ resource }) => resource))].filter(Boolean)
  const named = (fact: string, value: string, label: string): Evidence => {
    if (value === '') return { fact, confidence: 'unknown', how: 'No label of the pod names it.' }
    const origin = labelsFrom === '' ? 'an unknown source' : labelsFrom
    const sure = labelsFrom === 'API server' || labelsFrom === 'kube-state-metrics' ? 'certain' : 'likely'
    const how = label === '' ? `${value}, from ${origin}.` : `Label ${label}: ${value}, from ${origin}.`
    return { fact, confidence: sure, how }
  }
  return [
    confidence === null
      ? { fact: 'GPUs', confidence: 'unknown', how: 'No source reports that it holds a device.' }
      : {
          fact: 'GPUs',
          confidence,
          how: `Reported by ${from.join(' and ')}${resources.length === 0 ? '' : `, as ${resources.join(', ')}`}.`,
        },
    named('App', app, appLabel),
    named('Service', service, serviceLabel),
    ...(nics.length === 0
      ? []
      : [
          {
            fact: 'Interfaces',
            confidence: 'certain' as const,
            how: nics.some(({ interface: name }) => name !== '')
              ? 'The kernel lists them in the network namespace of the pod.'
              : 'The kubelet allocated the functions.',
          },
        ]),
  ]
}
