"""Words in, spoken by espeak-ng and flite in many voices, speeds and pitches: the part `synthetic` of the cache.

Cheap variety, above all of words that are not keywords: what decides false alarms is how many different ones were
heard. Half of the other words are neighbours of the keywords.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import resample
from tqdm import tqdm

from .audio import RATE, Noise, Part, augment, read_noise

KEYWORDS = "yes no up down left right on off stop go".split()
OTHERS = """
yet yeah chess guess dress less nose note nope snow node knob nod cup pup pub supper apple app dawn town
gown brown noun lift leaf laugh lefty cleft theft ride light rice rye bright ripe fright own an
honest don gone upon awning often offer cough soft of loft stock top shop step stomp spot staff sock goat gold ghost toe
goal god grow good gun
water table window morning music garden people kitchen summer winter letter paper number picture simple travel hello
computer please thanks coffee dinner bread butter sugar money doctor school teacher student market train station river
mountain ocean island forest weather rain thunder cloud sunny evening tonight tomorrow never always maybe because before
after under over between around through without quick slow heavy merry angry quiet loud open close turn play pause next
volume channel start begin finish again another every nothing something everyone nobody red green blue yellow orange
purple black white eleven twelve thirteen twenty hundred thousand million minute second hour week month year
alarm timer lamp heater fan door lock camera phone speaker radio television battery sensor engine machine robot
""".split()
VARIANTS = ["", "+f1", "+f2", "+f3", "+f4", "+f5", "+m1", "+m2", "+m3", "+m4", "+m5", "+m6", "+m7", "+croak"]
ACCENTS = ["en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-gb-x-gbcwmd", "en-029"]
FLITE = ["kal16", "awb", "rms", "slt"]


def command(word: str, path: str, random: np.random.Generator) -> list[str]:
    word = word.replace("-", " ")
    if random.random() < 0.35:
        stretch, pitch = random.uniform(0.8, 1.3), random.uniform(80, 230)
        settings = ["--setf", f"duration_stretch={stretch:.2f}", "--setf", f"int_f0_target_mean={pitch:.0f}"]
        return ["flite", "-voice", random.choice(FLITE), *settings, "-t", word, "-o", path]
    voice = random.choice(ACCENTS) + random.choice(VARIANTS)
    speed, pitch = random.integers(110, 220), random.integers(20, 85)
    return ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "-w", path, word]


def speak(word: str, random: np.random.Generator) -> np.ndarray:
    """One second with the word somewhere in its middle."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        subprocess.run(command(word, file.name, random), check=True, capture_output=True)
        sound, rate = soundfile.read(file.name, dtype="float32")
    heard = np.flatnonzero(np.abs(sound) > 0.01 * np.abs(sound).max())
    sound = sound[heard[0] : heard[-1] + 1]
    sound = resample(sound, round(len(sound) * RATE / rate)).astype(np.float32)[:RATE]
    out = np.zeros(RATE, np.float32)
    start = (RATE - len(sound)) // 2
    out[start : start + len(sound)] = sound * random.uniform(0.2, 0.9) / np.abs(sound).max()
    return out


def fill(data: Path, cache: Path, per_keyword: int = 60, per_other: int = 8, seed: int = 2):
    """Writes the part `synthetic`; without the two programs there is none, and training does without."""
    for program in ("espeak-ng", "flite"):
        if shutil.which(program) is None:
            print(f"{program} is not installed: training goes on without synthetic speech")
            return
    random = np.random.default_rng(seed)
    noise = Noise(read_noise(data, "train"), random)
    spoken = [word for word in KEYWORDS for _ in range(per_keyword)]
    spoken += [word for word in OTHERS for _ in range(per_other)]
    with Part(cache, "synthetic") as part:
        for word in tqdm(spoken, desc="speak"):
            part.add(augment(speak(word, random), noise, random), word)
