# SPDX-License-Identifier: Apache-2.0
"""Writes a trained FSMN-VAD as a checkpoint folder in the layout FunASR models are published in.

usage: export_fsmn_vad.py RUN OUT  (RUN is the output folder of train_fsmn_vad.py)
"""
import json
import shutil
import sys
from pathlib import Path

import torch

import fsmn_vad
from train_fsmn_vad import LATE_START, WINDOW_BACK

# Frames were labelled so that a segment's ends are where the speech's ends are, with a look-back that makes up for late
# first labels. Both thresholds of the window are a little higher than in the original, which draws the ends in by 20
# and 30 ms.
CONFIG = """\
frontend: WavFrontendOnline
frontend_conf: {{fs: 16000, window: hamming, n_mels: 80, frame_length: 25, frame_shift: 10, dither: 0.0, \
lfr_m: {stacked}, lfr_n: 1}}
model: FsmnVADStreaming
model_conf: {{sample_rate: 16000, detect_mode: 1, snr_mode: 0, max_end_silence_time: 800, max_start_silence_time: 3000,
  do_start_point_detection: true, do_end_point_detection: true, window_size_ms: 200, sil_to_speech_time_thres: 170,
  speech_to_sil_time_thres: 180, speech_2_noise_ratio: 1.0, do_extend: 1, lookback_time_start_point: {lookback},
  lookahead_time_end_point: 0, max_single_segment_time: 60000, snr_thres: -100.0, noise_frame_num_used_for_snr: 100,
  decibel_thres: -100.0, speech_noise_thres: 0.1, fe_prior_thres: 0.0001, silence_pdf_num: 1, sil_pdf_ids: [0],
  speech_noise_thresh_low: -0.1, speech_noise_thresh_high: 0.3, output_frame_probs: false, frame_in_ms: 10,
  frame_length_ms: 25}}
encoder: FSMN
encoder_conf: {{input_dim: {inputs}, input_affine_dim: {affine}, fsmn_layers: {layers}, linear_dim: {size},
  proj_dim: {projected}, lorder: {taps}, rorder: 0, lstride: 1, rstride: 0, output_affine_dim: {out_affine},
  output_dim: {classes}}}
"""

CONFIGURATION = {
    "framework": "pytorch", "task": "voice-activity-detection", "model": {"type": "funasr"},
    "pipeline": {"type": "funasr-pipeline"}, "model_name_in_hub": {"ms": "", "hf": ""},
    "file_path_metas": {"init_param": "model.pt", "config": "config.yaml", "frontend_conf": {"cmvn_file": "am.mvn"}}}


def main():
    run, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    state = {k: v.detach().float().contiguous().clone() for k, v in torch.load(run / "last.pt").items()}
    encoder = fsmn_vad.from_checkpoint(state).encoder  # also checks the names and shapes
    torch.save(state, out / "model.pt")
    (out / "config.yaml").write_text(CONFIG.format(
        inputs=encoder.in_linear1.linear.in_features, affine=encoder.in_linear1.linear.out_features,
        layers=len(encoder.fsmn), size=encoder.in_linear2.linear.out_features,
        projected=encoder.fsmn[0].linear.linear.out_features, taps=encoder.fsmn[0].fsmn_block.conv_left.kernel_size[0],
        stacked=encoder.in_linear1.linear.in_features // fsmn_vad.BINS,
        lookback=10 * (LATE_START - WINDOW_BACK),
        out_affine=encoder.out_linear1.linear.out_features, classes=encoder.out_linear2.linear.out_features))
    (out / "configuration.json").write_text(json.dumps(CONFIGURATION, indent=1) + "\n")
    shutil.copyfile(run / "am.mvn", out / "am.mvn")
    print(f"{sum(v.numel() for v in state.values())} parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
