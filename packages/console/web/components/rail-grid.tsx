import type { CSSProperties, ReactNode } from 'react'
import { Link } from 'wouter'
import { Icon } from './icon.tsx'
import { type IdleFold, IdleFoldButton } from './idle-fold.tsx'

/** The head at the left of a row of devices, or above it on narrow screens. */
export interface RowLabel {
  readonly title: string
  readonly notes: readonly string[]
  /** Head of the row's column where the rails are a list. */
  readonly head: string
}

/** The PCIe link of a rail in words. */
export interface RailLink {
  /** `Gen5 ×16 · 46 %`. */
  readonly words: string
  readonly isTrouble: boolean
  /** Other devices on the same switch, shown on focus. */
  readonly shares: string
  readonly href: string | undefined
}

/** One rail: two tiles and the link between them. */
export interface RailCells {
  readonly number: number
  readonly gpu: ReactNode
  readonly nic: ReactNode
  readonly link: RailLink
}

interface GridProps {
  readonly rails: readonly RailCells[]
  /** First and last place of rails that hang on one switch. */
  readonly spans: readonly { readonly switch: string; readonly first: number; readonly last: number }[]
  readonly labels: { readonly gpu: RowLabel; readonly link: string; readonly nic: RowLabel }
  /** Columns of the grid: the same in every block, so that rails of different blocks are as wide. */
  readonly columnCount: number
}

const placed = (place: number): CSSProperties => ({ '--place': place }) as CSSProperties

/** GPU, PCIe link and NIC of each rail in one column; a list of rails on small screens. One document, two layouts. */
export function RailGrid({ rails, spans, labels, columnCount }: GridProps) {
  return (
    <div className="rail-grid" style={{ '--columns': columnCount } as CSSProperties}>
      <GridLabel label={labels.gpu} kind="gpu" />
      <p className="rail-label is-link">{labels.link}</p>
      <GridLabel label={labels.nic} kind="nic" />
      <span className="rail-head is-number" aria-hidden="true">
        Rail
      </span>
      {rails.map(({ number }, place) => (
        <span key={number} className="rail-number num" style={placed(place)} aria-hidden="true">
          {number}
        </span>
      ))}
      <ul className="rail-row" aria-label={labels.gpu.title}>
        {rails.map(({ number, gpu }, place) => (
          <li key={number} className="is-gpu" style={placed(place)}>
            {gpu}
          </li>
        ))}
      </ul>
      <ul className="rail-row" aria-label="PCIe links">
        {rails.map(({ number, link }, place) => (
          <li key={number} className={link.isTrouble ? 'is-link is-trouble' : 'is-link'} style={placed(place)}>
            <LinkCell link={link} />
          </li>
        ))}
      </ul>
      {spans.map(
        ({ switch: port, first, last }) =>
          last > first && (
            <span
              key={port}
              className="rail-bracket"
              style={{ '--first': first, '--last': last } as CSSProperties}
              aria-hidden="true"
            />
          ),
      )}
      <ul className="rail-row" aria-label={labels.nic.title}>
        {rails.map(({ number, nic }, place) => (
          <li key={number} className="is-nic" style={placed(place)}>
            {nic}
          </li>
        ))}
      </ul>
    </div>
  )
}

function GridLabel({ label, kind }: { readonly label: RowLabel; readonly kind: 'gpu' | 'nic' }) {
  return (
    <div className={`rail-label is-${kind}`}>
      <h2>{label.title}</h2>
      {label.notes.map((note) => (
        <p key={note} className="num">
          {note}
        </p>
      ))}
      <span className="rail-head" aria-hidden="true">
        {label.head}
      </span>
    </div>
  )
}

function LinkCell({ link: { words, isTrouble, shares, href } }: { readonly link: RailLink }) {
  const text = (
    <>
      {isTrouble && <Icon name="warning" />}
      {words || '–'}
    </>
  )
  if (href === undefined) return <span className="rail-link num">{text}</span>
  return (
    <Link
      className="rail-link num"
      href={href}
      aria-label={[`PCIe ${words || 'link'}`, shares].filter(Boolean).join(', ')}
    >
      {text}
      {shares && <span className="rail-shares">{shares}</span>}
    </Link>
  )
}

/** Devices of one kind in a plain row that wraps, where they are in no column. */
export function DeviceRow({
  label,
  cells,
  columnCount,
  fold,
}: {
  readonly label: RowLabel
  readonly cells: readonly { readonly key: string; readonly cell: ReactNode }[]
  readonly columnCount: number
  readonly fold: IdleFold | undefined
}) {
  return (
    <div className="device-row" style={{ '--columns': columnCount } as CSSProperties}>
      <GridLabel label={label} kind="gpu" />
      <ul className="device-row-tiles" aria-label={label.title}>
        {cells.map(({ key, cell }) => (
          <li key={key}>{cell}</li>
        ))}
      </ul>
      {fold && <IdleFoldButton fold={fold} />}
    </div>
  )
}
